// headrace refit: an engine with other weights. Its program is not built again.
#include <filesystem>

#include "cli/model_options.h"
#include "cli/verbs.h"
#include "headrace/build.h"

namespace headrace::cli {
namespace {

struct RefitSettings {
  ModelOptions model;  // its path: the engine
  std::string checkpoint, output;
  WeightsMode weights = WeightsMode::kEmbed;
  bool json = false;
};

int refit(const RefitSettings& s) {
  const double start = now_s();
  std::error_code ignored;
  if (std::filesystem::equivalent(s.checkpoint, s.output, ignored))
    invalid("{}: would be written over the weights that it is made from; name another output", s.output);
  Engine engine = read_engine(s.model.path, {.weights = false, .plugins = load_plugins(s.model)});
  headrace::refit(engine, s.checkpoint);
  write_engine(engine, s.output, s.weights);
  report_engine(s.output, engine, now_s() - start, s.json);
  return 0;
}

}  // namespace

void declare_refit(Options& options) {
  const auto s = std::make_shared<RefitSettings>();
  options.positional("ENGINE", s->model.path, "made by 'headrace build'; whatever weights it has, also none");
  options.positional("CHECKPOINT", s->checkpoint,
                     "a Hugging Face folder, a .gguf or a .safetensors file with weights of the same names, sizes and types");
  options.value("-o,--output", "FILE", s->output, "the engine, which appears when it is complete; may be ENGINE itself");
  declare_weights_mode(options, s->weights);
  declare_plugins(options, s->model);
  options.flag("--json", s->json, "figures as JSON");
  options.footer(
      "Only weights change. Where the checkpoint's other files are those that ENGINE was built from, FILE is what 'headrace build' makes "
      "of it.");
  options.run([s] {
    if (s->output.empty()) throw UsageError("-o FILE is missing");
    return refit(*s);
  });
}

}  // namespace headrace::cli
