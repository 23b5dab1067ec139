// Elements chosen along an axis, each by an index of its own, as PyTorch's gather: y[i][j] = x[index[i][j]][j] along axis 0.
// Indices are made upstream; one out of range takes the nearest element that exists.
#pragma once

#include "ops/kernel.h"

namespace headrace {

struct Gather {
  int64_t axis = 0;
  void fields(auto&& f) { f("axis", axis); }
};

// gather(x, index i32 or i64) -> index's shape with elements of x's type. As many axes as x, and along all others at most as many elements.
void register_gather(OpRegistry& ops);
void register_gather_cpu(KernelRegistry& kernels);

}  // namespace headrace
