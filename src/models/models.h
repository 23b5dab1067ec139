// Model families: each turns a checkpoint's config into a graph. models.cpp is the list.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "headrace/nn.h"

namespace headrace {

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
