// Small pieces in which ops spell their decompositions.
#pragma once

#include "ops/cast/cast.h"
#include "ops/reduce/reduce.h"

namespace headrace {

// The number as a constant of one element and no axes, of a float type.
Value number(Graph& graph, double value, DType dtype = DType::kF32);
// x itself if it has that type already.
Value cast_to(Graph& graph, Value x, DType dtype);

inline Value mean_of_last_axis(Graph& graph, Value x) { return graph.emit("mean", Reduce{.axes = {-1}, .keepdim = true}, {x}); }

}  // namespace headrace
