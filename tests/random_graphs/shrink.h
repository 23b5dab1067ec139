// From a failing graph to a small one that fails as well.
#pragma once

#include <functional>

#include "random_graphs/case.h"

namespace headrace::fuzzing {

// `fails` is asked about graphs that are valid; it must say yes to `graph`. Until nothing more helps: outputs go, nodes are bypassed or
// become inputs, sizes and symbols get smaller, attributes become their defaults, types f32, parameters and constants inputs.
Case shrink(Case graph, const std::function<bool(const Case&)>& fails);

}  // namespace headrace::fuzzing
