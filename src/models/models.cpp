#include "models/models.h"

#include "core/json.h"

namespace headrace {

ModelInfo build_bert(const nn::Scope& root, const Json& config);
ModelInfo build_gpt2(const nn::Scope& root, const Json& config);
ModelInfo build_llama(const nn::Scope& root, const Json& config);
ModelInfo build_mistral(const nn::Scope& root, const Json& config);
ModelInfo build_qwen2(const nn::Scope& root, const Json& config);
ModelInfo build_qwen3(const nn::Scope& root, const Json& config);

namespace {

constexpr ModelFamily kFamilies[] = {
    {"bert", build_bert},       {"gpt2", build_gpt2},   {"llama", build_llama},
    {"mistral", build_mistral}, {"qwen2", build_qwen2}, {"qwen3", build_qwen3},
};

}  // namespace

std::span<const ModelFamily> model_families() { return kFamilies; }

const ModelFamily& find_model_family(const Json& config) {
  const std::string type = require<std::string>(config, "model_type", "config.json");
  std::string known;
  for (const ModelFamily& family : kFamilies) {
    if (family.model_type == type) return family;
    known += (known.empty() ? "" : ", ") + std::string(family.model_type);
  }
  fail(ErrorCode::kUnsupported, "config.json: model_type is '{}', which Headrace does not know; it knows {}", printable(type), known);
}

}  // namespace headrace
