// exp(x - max) / sum(exp(x - max)) along one axis, and its logarithm.
#pragma once

#include "ops/kernel.h"

namespace headrace {

struct Softmax {
  int64_t axis = -1;
  void fields(auto&& f) { f("axis", axis); }
};

// softmax(x), log_softmax(x) of floats -> x's type. In fp32; a row of nothing but -inf gives NaN, as in PyTorch.
void register_softmax(OpRegistry& ops);
void register_softmax_cpu(KernelRegistry& kernels);

}  // namespace headrace
