// Model families: each turns a checkpoint's config into a graph. models.cpp is the list.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "headrace/nn.h"

namespace headrace {

// How a family's model is used.
enum class ModelKind { kDecoder, kEncoder };

// What the runtime needs to know of a model beyond its graph.
struct ModelInfo {
  ModelKind kind = ModelKind::kDecoder;
  int64_t vocab_size = 0;
  int64_t max_positions = 0;  // the longest context it was made for
};

struct ModelFamily {
  std::string_view model_type;  // "llama": config.json's model_type
  // Declares parameters under `root` and marks outputs in its graph ("logits"; encoders: "last_hidden_state", ...).
  // Throws Error when the config lacks or garbles something.
  ModelInfo (*build)(const nn::Scope& root, const nlohmann::json& config);
};

std::span<const ModelFamily> model_families();
// Throws Error(kUnsupported) that lists the families.
const ModelFamily& find_model_family(const nlohmann::json& config);

}  // namespace headrace
