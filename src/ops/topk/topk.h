// The k largest or smallest along one axis, best first, as PyTorch's topk; of equals the first. NaN is larger than everything.
#pragma once

#include "ops/kernel.h"

namespace headrace {

struct TopK {
  int64_t k = 1, axis = -1;
  bool largest = true;
  void fields(auto&& f) { f("k", k), f("axis", axis), f("largest", largest); }
};

// topk(x) -> values of x's type, i64 indices along the axis: x's shape with k along the axis. An axis whose size is a symbol is taken to
// have k elements; should it have fewer, the results past its end are zeros.
void register_topk(OpRegistry& ops);
void register_topk_cpu(KernelRegistry& kernels);

}  // namespace headrace
