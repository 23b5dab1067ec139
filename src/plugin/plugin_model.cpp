#include "plugin/adapters.h"
#include "plugin/handles.h"
#include "plugin/plugin_attributes.h"

namespace headrace {

PluginPass adapt(std::shared_ptr<const PluginPart<headrace_pass>> part) {
  const headrace_pass& c = part->c;
  check_plugin_name(c.name, "a pass");
  if (!c.run || !c.before == !c.after) invalid("pass '{}': run is wanted, and either before or after", c.name);
  const std::string name = c.name;
  return {.name = name, .anchor = c.before ? c.before : c.after, .before = c.before != nullptr, .run = [part, name](Graph& graph) {
            CallContext context;
            call_plugin(*part->library, fmt::format("pass '{}'", name), context,
                        [&](headrace_context* c) { return part->c.run(c, part->c.user, to_c(&graph)); });
            graph.insert_before(nullptr);
          }};
}

PluginFamily adapt(std::shared_ptr<const PluginPart<headrace_family>> part) {
  check_plugin_name(part->c.model_type, "a model family");
  if (!part->c.build) invalid("model family '{}': build is wanted", part->c.model_type);
  const std::string model_type = part->c.model_type;
  const auto build = [part, model_type](Graph& graph, const PluginFamily::StoredType& stored, const std::string& config) {
    headrace_model_info info{.struct_size = sizeof(headrace_model_info), .is_encoder = 0, .vocab_size = 0, .max_positions = 0};
    CallContext context;
    context.stored = &stored;
    call_plugin(*part->library, fmt::format("model family '{}'", model_type), context,
                [&](headrace_context* c) { return part->c.build(c, part->c.user, to_c(&graph), config.c_str(), &info); });
    graph.insert_before(nullptr);
    return ModelInfo{.kind = info.is_encoder ? ModelKind::kEncoder : ModelKind::kDecoder,
                     .vocab_size = info.vocab_size,
                     .max_positions = info.max_positions};
  };
  return {.model_type = model_type, .build = build};
}

}  // namespace headrace
