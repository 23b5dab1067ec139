// What every verb that loads a model asks for, and the model once loaded.
#pragma once

#include "api/load.h"
#include "cli/options.h"

namespace headrace::cli {

struct ModelOptions {
  std::string path;
  LoadOptions load;
};

// MODEL, --threads, --device, --dtype, --context, --random-weights.
void declare_model(Options& options, ModelOptions& model);
// Some of them, for verbs that use the words otherwise.
void declare_threads(Options& options, ModelOptions& model);
void declare_dtype(Options& options, ModelOptions& model);
void declare_random_weights(Options& options, ModelOptions& model);

// 0: as many as there are cores.
void check_threads(int threads);

// A decoder, ready.
struct LoadedModel {
  ModelText text;
  std::unique_ptr<Executor> executor;
  double load_s = 0;
};
LoadedModel load_model(Engine engine, const ModelOptions& options, double already_s);

// Seconds on a steady clock.
double now_s();

}  // namespace headrace::cli
