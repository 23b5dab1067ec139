// What plugins contribute, in the terms of the rooms that take it.
#pragma once

#include <functional>
#include <optional>

#include "headrace/logits_processor.h"
#include "headrace/plugins.h"
#include "ops/kernel.h"
#include "weights/checkpoint.h"

namespace headrace {

// Beside the pass named `anchor`.
struct PluginPass {
  std::string name, anchor;
  bool before = false;
  std::function<void(Graph&)> run;
};

// Emits the model that `config` (JSON) describes. `stored` says what the checkpoint has.
struct PluginFamily {
  using StoredType = std::function<std::optional<DType>(const std::string& name)>;
  std::string model_type;
  std::function<ModelInfo(Graph&, const StoredType& stored, const std::string& config)> build;
};

struct PluginParts {
  std::shared_ptr<const OpRegistry> ops;          // with the built-in ones
  std::shared_ptr<const KernelRegistry> kernels;  // the plugins' first, then the built-in ones
  std::vector<PluginPass> passes;
  std::vector<PluginFamily> families;
  std::vector<CheckpointFormat> formats;
  LogitsProcessors logits_processors;

  // Null when there is none.
  const PluginFamily* find_family(std::string_view model_type) const;
};

// The kernels to lower with, and the ops to read programs with; the built-in ones when there are no plugins.
const KernelRegistry& kernels_of(const Plugins* plugins);
std::shared_ptr<const OpRegistry> ops_of(const Plugins* plugins);

}  // namespace headrace
