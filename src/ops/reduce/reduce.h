// Reductions over some axes, as in PyTorch.
//   sum prod (x)  floats keep their type; integers and bool give i64, and wrap around
//   mean(x)       floats only
//   max min (x)   x's type; NaN wins
//   argmax(x)     i64: the first index of the largest along one axis, or into the flattened tensor when no axes are named
//   cumsum(x)     sum of everything up to and including each element along one axis; types as sum, x's shape
// Of no elements, as an axis whose size is a symbol may have them: sum, max, min and argmax are 0, mean is NaN.
#pragma once

#include "ops/kernel.h"

namespace headrace {

struct Reduce {
  std::vector<int64_t> axes;  // empty: all
  bool keepdim = false;
  void fields(auto&& f) { f("axes", axes), f("keepdim", keepdim); }
};

struct CumSum {
  int64_t axis = -1;
  void fields(auto&& f) { f("axis", axis); }
};

enum class Reduction { kSum, kProd, kMean, kMax, kMin, kArgmax };
inline constexpr std::string_view kReductionNames[] = {"sum", "prod", "mean", "max", "min", "argmax"};

void register_reduce(OpRegistry& ops);
void register_reduce_cpu(KernelRegistry& kernels);

}  // namespace headrace
