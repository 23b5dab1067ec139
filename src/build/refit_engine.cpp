// Other weights for an engine, from a checkpoint. Its program stays, so the checkpoint's configuration must mean the same model.
#include "build/family.h"
#include "core/json.h"
#include "core/log.h"
#include "engine/refit.h"
#include "headrace/build.h"
#include "weights/checkpoint.h"

namespace headrace {
namespace {

// What a family makes of a configuration, before any pass, as text: where the texts are equal, so are the models.
std::string definition(const Json& config, const WeightSource& weights, const Plugins* plugins) {
  Graph graph(ops_of(plugins));
  const nn::StoredTypes stored = [&](const std::string& name) -> std::optional<TensorType> {
    const std::optional<StoredType> found = weights.find(name);
    return found ? std::optional(TensorType{found->dtype, {}}) : std::nullopt;
  };
  const ModelInfo info = find_family(config, plugins).define(graph, stored, config);
  return fmt::format("{} {} {}\n{}", name(info.kind), info.vocab_size, info.max_positions, graph.to_text());
}

std::string differing_keys(const Json& wanted, const Json& found) {
  std::string keys;
  const auto add = [&](const std::string& key) {
    if (wanted.value(key, Json()) == found.value(key, Json())) return;
    keys += fmt::format("\n  {}: the checkpoint has {}, the engine {}", printable(key), printable(found.value(key, Json()).dump()),
                        printable(wanted.value(key, Json()).dump()));
  };
  for (const auto& [key, value] : wanted.items()) add(key);
  for (const auto& [key, value] : found.items())
    if (!wanted.contains(key)) add(key);
  return keys;
}

void check_config(const Engine& engine, const Checkpoint& checkpoint) {
  const Json config = parse_json(engine.config, engine.origin + ": config");
  if (!config.is_object() || config == checkpoint.config) return;
  const Plugins* plugins = engine.plugins.get();
  if (definition(config, *checkpoint.weights, plugins) == definition(checkpoint.config, *checkpoint.weights, plugins)) return;
  invalid("{}: its configuration describes another model than {} was built from; build an engine of it. They differ in{}", checkpoint.path,
          engine.origin, differing_keys(config, checkpoint.config));
}

// What a build would have taken from the checkpoint, and refit does not.
std::string left_out(const Engine& engine, const Checkpoint& checkpoint) {
  std::string names;
  const auto add = [&](const std::string& name) { names += (names.empty() ? "" : ", ") + printable(name); };
  const auto compare = [&](const char* name, const std::string& mine, const Json& other) {
    if (parse_json(mine, engine.origin) != other) add(name);
  };
  compare("configuration", engine.config, checkpoint.config);
  compare("generation defaults", engine.generation, checkpoint.generation);
  compare("pooling", engine.pooling, checkpoint.pooling);
  for (const auto& [name, file] : checkpoint.text.files)
    if (engine.text.find(name) != std::optional(file.bytes)) add(name);
  return names;
}

}  // namespace

void refit(Engine& engine, const std::string& path) {
  if (path.ends_with(".safetensors")) return refit(engine, file_weights(path));
  const Checkpoint checkpoint = open_checkpoint(path, formats_of(engine.plugins.get()));
  checkpoint.require_weights();
  check_fit(engine, *checkpoint.weights);
  check_config(engine, checkpoint);
  if (const std::string names = left_out(engine, checkpoint); !names.empty())
    log(LogLevel::kWarning, "{}: only its weights are taken; what else differs stays as it is in {}: {}", path, engine.origin, names);
  engine.weights = checkpoint.weights;
}

}  // namespace headrace
