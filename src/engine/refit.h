// What gives engines weights: see refit in headrace/engine.h.
#pragma once

#include "headrace/engine.h"

namespace headrace {

// Throws Error(kUnsupported), saying how to give some, when the program has parameters and the engine no weights.
void require_weights(const Engine& engine);

// Throws Error(kInvalidArgument) as refit does.
void check_fit(const Engine& engine, const WeightSource& weights);

}  // namespace headrace
