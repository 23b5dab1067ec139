// headrace inspect: what is in a model or an engine, without running it.
#include "cli/debug_options.h"
#include "cli/model_options.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "core/json.h"
#include "core/new_file.h"
#include "drawing/folded_text.h"
#include "drawing/graph_svg.h"
#include "headrace/engine.h"
#include "headrace/plugins.h"
#include "weights/checkpoint.h"

namespace headrace::cli {
namespace {

struct InspectSettings {
  ModelOptions model;
  DebugSettings debug;
  bool program = false, all = false, json = false;
  std::string graph;
};

std::string format_of(const std::string& path) {
  if (is_engine_file(path)) return "engine";
  if (is_gguf(path)) return "gguf";
  return path.ends_with(".json") ? "config" : "folder";
}

OrderedJson types(const std::vector<std::pair<std::string, Value>>& values) {
  OrderedJson json = OrderedJson::object();
  for (const auto& [name, value] : values) json[name] = value.type().to_string();
  return json;
}

// "1.0, libx.so: ops a, b; pass c"
std::string describe(const PluginInfo& plugin) {
  std::string text = plugin.version.empty() ? plugin.path : plugin.version + ", " + plugin.path;
  const char* before = ": ";
  const auto list = [&](const char* what, const std::vector<std::string>& names) {
    if (names.empty()) return;
    text += fmt::format("{}{} {}", before, what, fmt::join(names, ", "));
    before = "; ";
  };
  list("ops", plugin.ops), list("kernels", plugin.kernels), list("passes", plugin.passes), list("model families", plugin.model_families);
  list("weight formats", plugin.weight_formats), list("logits processors", plugin.logits_processors);
  return text;
}

OrderedJson describe(const Engine& engine, const InspectSettings& s) {
  const EngineInfo info = headrace::inspect(engine);
  OrderedJson dtypes = OrderedJson::object();
  for (const auto& [dtype, d] : info.dtypes)
    dtypes[std::string(name(dtype))] = {{"tensors", d.tensors}, {"parameters", d.parameters}, {"bytes", d.bytes}};
  std::vector<std::pair<std::string, Value>> inputs, outputs;
  for (const Value& v : engine.program.leaves(Leaf::kInput)) inputs.emplace_back(v.name(), v);
  for (const Graph::Output& o : engine.program.outputs()) outputs.emplace_back(o.name, o.value);
  OrderedJson json = {{"path", s.model.path},
                      {"format", format_of(s.model.path)},
                      {"kind", name(engine.kind)},
                      {"model_type", info.model_type.empty() ? OrderedJson() : OrderedJson(info.model_type)},
                      {"num_nodes", info.num_nodes},
                      {"num_parameters", info.num_parameters},
                      {"weight_bytes", info.weight_bytes},
                      {"kv_bytes_per_token", info.kv_bytes_per_token},
                      {"max_positions", engine.max_positions},
                      {"vocab_size", engine.vocab_size},
                      {"exact", engine.exact},
                      {"has_weights", engine.weights != nullptr},
                      {"has_tokenizer", !engine.text.empty()},
                      {"plugins", info.plugins},
                      {"dtypes", std::move(dtypes)},
                      {"inputs", types(inputs)},
                      {"outputs", types(outputs)}};
  if (engine.plugins)
    for (const PluginInfo& plugin : engine.plugins->list()) json["loaded_plugins"][plugin.name] = describe(plugin);
  if (s.program) json["program"] = engine.program.to_text();
  return json;
}

std::string for_people(const OrderedJson& json) {
  std::string text;
  for (const auto& [key, value] : json.items()) {
    if (key == "program") continue;
    if (!value.is_object()) {
      const bool bytes = key.find("bytes") != std::string::npos;
      text += fmt::format("{:<20}{}{}\n", key, value.is_string() ? value.get<std::string>() : value.dump(),
                          bytes || key == "num_parameters" ? fmt::format(" ({})", in_units(value.get<double>(), bytes ? "B" : "")) : "");
      continue;
    }
    bool first = true;
    for (const auto& [name, item] : value.items()) {
      text += fmt::format("{:<20}{:<20}{}\n", first ? key : "", name,
                          item.is_string() ? item.get<std::string>()
                                           : fmt::format("{} tensors, {} parameters, {}", item["tensors"].dump(), item["parameters"].dump(),
                                                         in_units(item["bytes"].get<double>())));
      first = false;
    }
  }
  return text;
}

int inspect(InspectSettings& s) {
  apply(s.debug, s.model.load);
  const Engine engine = load_model(s.model);
  if (!s.graph.empty()) {
    NewFile file(s.graph);
    const std::string svg = graph_svg(engine.program);
    file.append(std::as_bytes(std::span(svg)));
    file.commit();
  }
  if (s.json) write_output(describe(engine, s).dump(-1, ' ', false, OrderedJson::error_handler_t::replace) + "\n");
  else if (s.program) write_output(s.all ? engine.program.to_text() : folded_text(engine.program));
  else write_output(for_people(describe(engine, s)));
  return 0;
}

}  // namespace

void declare_inspect(Options& options) {
  const auto s = std::make_shared<InspectSettings>();
  options.positional("MODEL", s->model.path, "a Hugging Face folder, a config.json (with --random-weights), a .gguf file or an engine");
  options.flag("--program", s->program, "prints the program, its graph after all passes, as text; layers that repeat are printed once");
  options.flag("--all", s->all, "every layer of it, so that it parses back");
  options.value("--graph", "FILE.svg", s->graph, "draws the program; repeated layers are drawn once");
  declare_dtype(options, s->model);
  declare_random_weights(options, s->model);
  declare_plugins(options, s->model);
  options.flag("--json", s->json, "figures as JSON");
  declare_passes(options, s->debug);
  options.run([s] { return inspect(*s); });
}

}  // namespace headrace::cli
