#include "build/family.h"

#include <algorithm>

#include "models/models.h"

namespace headrace {

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::span<const CheckpointFormat> formats_of(const Plugins* plugins) {
  return plugins ? std::span(plugins->parts().formats) : std::span<const CheckpointFormat>();
}

void check_info(const Graph& graph, const ModelInfo& info) {
  const std::string_view wanted = info.kind == ModelKind::kDecoder ? "logits" : "last_hidden_state";
  if (std::ranges::none_of(graph.outputs(), [&](const Graph::Output& o) { return o.name == wanted; }))
    invalid("{}: the graph has no output '{}', which every {} has; mark it with mark_output", graph.name(), wanted, name(info.kind));
  if (info.vocab_size < 1 || info.vocab_size > INT32_MAX || info.max_positions < 1 || info.max_positions > INT32_MAX)
    invalid("{}: a vocabulary of {} and {} positions; both are wanted between 1 and {}", graph.name(), info.vocab_size, info.max_positions,
            INT32_MAX);
}

Family find_family(const Json& config, const Plugins* plugins) {
  const PluginFamily* family =
      plugins ? plugins->parts().find_family(find_or<std::string>(config, "model_type", "", "config.json")) : nullptr;
  if (!family) {
    const ModelFamily& own = find_model_family(config);
    return {std::string(own.model_type), [&own](Graph& graph, const nn::StoredTypes& stored, const Json& c) {
              return own.build(nn::Scope(graph, stored, DType::kF32), c);
            }};
  }
  return {family->model_type, [family](Graph& graph, const nn::StoredTypes& stored, const Json& c) {
            const auto dtype_of = [&](const std::string& name) -> std::optional<DType> {
              const std::optional<TensorType> type = stored(name);
              return type ? std::optional(type->dtype) : std::nullopt;
            };
            const ModelInfo info = family->build(graph, dtype_of, text_of(c));
            check_info(graph, info);
            return info;
          }};
}

}  // namespace headrace
