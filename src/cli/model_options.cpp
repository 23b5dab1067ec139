#include "cli/model_options.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "cli/output.h"
#include "core/json.h"
#include "headrace/plugins.h"

namespace headrace::cli {
namespace {

// "one.so:two.so"
std::vector<std::string> plugins_of_environment() {
  const char* given = std::getenv("HEADRACE_PLUGINS");
  const std::string list = given ? given : "";
  std::vector<std::string> paths;
  for (size_t begin = 0; begin < list.size();) {
    const size_t end = std::min(list.find(':', begin), list.size());
    if (end > begin) paths.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return paths;
}

}  // namespace

std::shared_ptr<const Plugins> load_plugins(const ModelOptions& model) {
  std::vector<std::string> paths = plugins_of_environment();
  paths.insert(paths.end(), model.plugins.begin(), model.plugins.end());
  return paths.empty() ? nullptr : Plugins::load(paths);
}

Engine load_model(const ModelOptions& model) {
  LoadOptions load = model.load;
  load.plugins = load_plugins(model);
  return load_engine(model.path, load);
}

void check_threads(int threads) {
  if (threads < 0 || threads > 1024) throw UsageError(fmt::format("'{}' is not in range: 1 to 1024, or 0 for one per core", threads));
}

void declare_threads(Options& options, ModelOptions& model) {
  options.value(
      "--threads", "N",
      [&model](const std::string& text) {
        parse_value(text, model.load.num_threads);
        check_threads(model.load.num_threads);
      },
      "threads that compute (default: one per core)");
}

void declare_dtype(Options& options, ModelOptions& model) {
  options.value("--dtype", "TYPE", model.load.dtype,
                "auto (default): weights as stored, fast arithmetic; fp32: exact arithmetic; bf16, fp16: float matrices are converted");
}

void declare_checkpoint(Options& options, ModelOptions& model) {
  options.value("--checkpoint", "PATH", model.load.checkpoint,
                "MODEL is an engine, and takes its weights from here: a Hugging Face folder, a .gguf or a .safetensors file");
}

void declare_random_weights(Options& options, ModelOptions& model) {
  options.flag_with_value(
      "--random-weights", "SEED", "0", [&model](const std::string& text) { parse_value(text, model.load.random_weights.emplace()); },
      "weights of chance: MODEL needs only a config.json");
}

void declare_plugins(Options& options, ModelOptions& model) {
  options.value("--plugin", "FILE", model.plugins, "a plugin's shared library; may be repeated (HEADRACE_PLUGINS=FILE:FILE names others)");
}

void declare_weights_mode(Options& options, WeightsMode& mode) {
  options.value(
      "--weights", "MODE",
      [&mode](const std::string& text) {
        if (text == "embed") mode = WeightsMode::kEmbed;
        else if (text == "link") mode = WeightsMode::kLink;
        else if (text == "none") mode = WeightsMode::kNone;
        else throw UsageError(fmt::format("'{}' is not known; wanted embed, link or none", printable(text)));
      },
      "embed (default): in the engine; link: the engine refers to the checkpoint's files; none: it runs with --checkpoint only");
}

void report_engine(const std::string& path, const Engine& engine, double seconds, bool json) {
  const auto bytes = std::filesystem::file_size(path);
  const int nodes = engine.program.num_nodes();
  if (json) write_output(OrderedJson{{"file", path}, {"bytes", bytes}, {"num_nodes", nodes}, {"seconds", seconds}}.dump() + "\n");
  else write_output(fmt::format("{}: {:.1f} MB, {} nodes, in {:.2f} s\n", path, double(bytes) / 1e6, nodes, seconds));
}

void declare_model(Options& options, ModelOptions& model) {
  options.positional("MODEL", model.path, "a Hugging Face folder, a .gguf file or an engine");
  options.heading("Model");
  declare_threads(options, model);
  options.value("--device", "DEVICE", model.load.device, "auto (default) or cpu");
  declare_dtype(options, model);
  options.value(
      "--context", "N",
      [&model](const std::string& text) {
        parse_value(text, model.load.context);
        if (model.load.context < 1) throw UsageError(fmt::format("'{}' is not in range: at least 1", model.load.context));
      },
      "tokens that a sequence may have (default: the model's, as far as memory allows)");
  declare_checkpoint(options, model);
  declare_random_weights(options, model);
  declare_plugins(options, model);
}

double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace headrace::cli
