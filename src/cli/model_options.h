// What every verb that loads a model asks for.
#pragma once

#include "cli/options.h"
#include "core/error.h"
#include "headrace/engine.h"
#include "headrace/executor.h"

namespace headrace::cli {

struct ModelOptions {
  std::string path;
  LoadOptions load;
  std::vector<std::string> plugins;  // paths; those of HEADRACE_PLUGINS come first
};

// The plugins that were named; null when none were. Throws Error.
std::shared_ptr<const Plugins> load_plugins(const ModelOptions& model);
// The engine of a model, with the plugins that were named. Throws Error.
Engine load_model(const ModelOptions& model);

// MODEL, --threads, --device, --dtype, --context, --checkpoint, --random-weights, --plugin.
void declare_model(Options& options, ModelOptions& model);
// Some of them, for verbs that use the words otherwise.
void declare_threads(Options& options, ModelOptions& model);
void declare_dtype(Options& options, ModelOptions& model);
void declare_checkpoint(Options& options, ModelOptions& model);
void declare_random_weights(Options& options, ModelOptions& model);
void declare_plugins(Options& options, ModelOptions& model);

// --weights, of verbs that write an engine.
void declare_weights_mode(Options& options, WeightsMode& mode);
// What they say in the end.
void report_engine(const std::string& path, const Engine& engine, double seconds, bool json);

// 0: as many as there are cores.
void check_threads(int threads);

// Seconds on a steady clock.
double now_s();

}  // namespace headrace::cli
