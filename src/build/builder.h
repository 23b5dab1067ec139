// From a checkpoint to an engine: the model's family defines the graph, the passes turn it into a program.
#pragma once

#include <optional>

#include "engine/engine.h"
#include "headrace/build.h"

namespace headrace {

enum class WeightDType { kAuto, kF32, kBF16, kF16 };

struct BuilderOptions {
  WeightDType dtype = WeightDType::kAuto;  // kF32: exact arithmetic; kBF16, kF16: float matrices are converted to it
  std::optional<uint64_t> random_weights;  // a seed: weights of chance, only the config is read
  CompileOptions passes;                   // kv_cache is decided by the model's kind
};

// `path`: see open_checkpoint. Throws Error for anything that does not fit together; missing, extra and misshapen weights in one.
Engine build_engine(const std::string& path, const BuilderOptions& options = {});

}  // namespace headrace
