// What is built: the family of a configuration, a plugin's or one of Headrace's own.
#pragma once

#include <functional>

#include "core/json.h"
#include "headrace/nn.h"
#include "plugin/parts.h"

namespace headrace {

struct Family {
  std::string model_type;
  // Emits the model into a graph of ops_of(plugins). Throws Error.
  std::function<ModelInfo(Graph&, const nn::StoredTypes&, const Json& config)> define;
};
// A plugin's comes before one of Headrace's own of the same name. Throws Error(kUnsupported) when there is none. It must not outlive
// `plugins`, which may be null.
Family find_family(const Json& config, const Plugins* plugins);

// Throws Error(kInvalidArgument) for a graph without the output that its kind has, and for impossible sizes.
void check_info(const Graph& graph, const ModelInfo& info);

std::span<const CheckpointFormat> formats_of(const Plugins* plugins);

// JSON as text. What a GGUF says need not be UTF-8.
std::string text_of(const Json& json);

}  // namespace headrace
