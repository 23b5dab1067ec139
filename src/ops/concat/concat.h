// Tensors one after the other along an axis, as PyTorch's cat.
#pragma once

#include "ops/kernel.h"

namespace headrace {

struct Concat {
  int64_t axis = 0;
  void fields(auto&& f) { f("axis", axis); }
};

// concat(x, ...) of one type but for the size of `axis` -> the same with the sum of those sizes. Block types: not along the last.
void register_concat(OpRegistry& ops);
void register_concat_cpu(KernelRegistry& kernels);

}  // namespace headrace
