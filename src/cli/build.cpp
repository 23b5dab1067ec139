// headrace build: a checkpoint to an engine file.
#include <filesystem>

#include "cli/model_options.h"
#include "cli/verbs.h"
#include "headrace/engine.h"

namespace headrace::cli {
namespace {

struct BuildSettings {
  ModelOptions model;
  std::string output;
  WeightsMode weights = WeightsMode::kEmbed;
  bool json = false;
};

int build(const BuildSettings& s) {
  const double start = now_s();
  std::error_code ignored;
  if (std::filesystem::equivalent(s.model.path, s.output, ignored))
    invalid("{}: would be written over itself; name another output", s.output);
  const Engine engine = load_model(s.model);
  write_engine(engine, s.output, s.weights);
  report_engine(s.output, engine, now_s() - start, s.json);
  return 0;
}

}  // namespace

void declare_build(Options& options) {
  const auto s = std::make_shared<BuildSettings>();
  options.positional("MODEL", s->model.path, "a Hugging Face folder, a .gguf file or an engine");
  options.value("-o,--output", "FILE", s->output, "the engine, which appears when it is complete");
  declare_dtype(options, s->model);
  declare_weights_mode(options, s->weights);
  declare_random_weights(options, s->model);
  declare_plugins(options, s->model);
  options.flag("--json", s->json, "figures as JSON");
  options.run([s] {
    if (s->output.empty()) throw UsageError("-o FILE is missing");
    return build(*s);
  });
}

}  // namespace headrace::cli
