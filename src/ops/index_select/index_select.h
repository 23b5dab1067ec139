// Elements chosen along an axis by index, as in PyTorch: rows of hidden states, positions of a table.
// Indices are made upstream; one out of range takes the nearest element that exists.
#pragma once

#include "ops/kernel.h"

namespace headrace {

struct IndexSelect {
  int64_t axis = 0;
  void fields(auto&& f) { f("axis", axis); }
};

// index_select(x, indices (n) i32 or i64) -> x's type with n elements along `axis`. Block types: not along the last axis.
void register_index_select(OpRegistry& ops);
void register_index_select_cpu(KernelRegistry& kernels);

}  // namespace headrace
