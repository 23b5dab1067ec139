// What inputs and parameters hold: a function of their name, type and a seed alone, so that a graph that shrinks keeps its data.
#pragma once

#include <map>
#include <string>

#include "headrace/graph.h"

namespace headrace::fuzzing {

using Tensors = std::map<std::string, HostTensor>;

// Floats are in [-2, 2), integers in [0, 8), but names that begin so mean otherwise:
//   mask      0 or, one time in three, -infinity
//   positive  in [0.25, 2)
//   odd       in [-2, 2), one time in eight 0, infinity, -infinity or NaN
//   index     in [-2, 20)
HostTensor leaf_data(const std::string& name, DType dtype, const Sizes& sizes, uint64_t seed);

// Data for every leaf of that kind.
Tensors leaf_data(const Graph& graph, Leaf kind, const SymbolValues& symbols, uint64_t seed);

}  // namespace headrace::fuzzing
