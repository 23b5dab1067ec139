// headrace build: a checkpoint to an engine file.
#include <filesystem>

#include "cli/model_options.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "core/json.h"
#include "headrace/engine.h"

namespace headrace::cli {
namespace {

struct BuildSettings {
  ModelOptions model;
  std::string output;
  WeightsMode weights = WeightsMode::kEmbed;
  bool json = false;
};

void parse_weights_mode(const std::string& text, WeightsMode& mode) {
  if (text == "embed") mode = WeightsMode::kEmbed;
  else if (text == "link") mode = WeightsMode::kLink;
  else if (text == "none") mode = WeightsMode::kNone;
  else throw UsageError(fmt::format("'{}' is not known; wanted embed, link or none", printable(text)));
}

int build(const BuildSettings& s) {
  const double start = now_s();
  std::error_code ignored;
  if (std::filesystem::equivalent(s.model.path, s.output, ignored))
    invalid("{}: would be written over itself; name another output", s.output);
  const Engine engine = load_engine(s.model.path, s.model.load);
  write_engine(engine, s.output, s.weights);
  const auto bytes = std::filesystem::file_size(s.output);
  const double took = now_s() - start;
  if (s.json)
    write_output(OrderedJson{{"file", s.output}, {"bytes", bytes}, {"num_nodes", engine.program.num_nodes()}, {"seconds", took}}.dump() +
                 "\n");
  else write_output(fmt::format("{}: {:.1f} MB, {} nodes, in {:.2f} s\n", s.output, double(bytes) / 1e6, engine.program.num_nodes(), took));
  return 0;
}

}  // namespace

void declare_build(Options& options) {
  const auto s = std::make_shared<BuildSettings>();
  options.positional("MODEL", s->model.path, "a Hugging Face folder, a .gguf file or an engine");
  options.value("-o,--output", "FILE", s->output, "the engine, which appears when it is complete");
  declare_dtype(options, s->model);
  options.value(
      "--weights", "MODE", [s](const std::string& text) { parse_weights_mode(text, s->weights); },
      "embed (default): in the engine; link: the engine refers to MODEL's files; none: a program without weights, to look at");
  declare_random_weights(options, s->model);
  options.flag("--json", s->json, "figures as JSON");
  options.run([s] {
    if (s->output.empty()) throw UsageError("-o FILE is missing");
    return build(*s);
  });
}

}  // namespace headrace::cli
