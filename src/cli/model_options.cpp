#include "cli/model_options.h"

#include <chrono>

namespace headrace::cli {

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

void declare_random_weights(Options& options, ModelOptions& model) {
  options.flag_with_value(
      "--random-weights", "SEED", "0", [&model](const std::string& text) { parse_value(text, model.load.random_weights.emplace()); },
      "weights of chance: MODEL needs only a config.json");
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
  declare_random_weights(options, model);
}

double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace headrace::cli
