// Two binary functions in one go through memory: outer(inner(x, y), z), or outer(z, inner(x, y)).
#pragma once

#include "ops/binary/binary.h"

namespace headrace {

// n elements; out may be x, y or z.
using PairRun = void (*)(const float* x, const float* y, const float* z, float* out, int64_t n);
// Of add, sub and mul; null for others.
PairRun pair_run(BinaryFunction inner, BinaryFunction outer, bool inner_is_second, CpuIsa isa);

}  // namespace headrace
