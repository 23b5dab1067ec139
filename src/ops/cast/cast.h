// Conversion to another element type, as PyTorch's Tensor.to: floats round to nearest even, floats to integers drop the fraction
// (and saturate; NaN becomes the lowest), integers to integers wrap around, bool is "not zero". Block types are dequantized.
#pragma once

#include "ops/kernel.h"

namespace headrace {

struct Cast {
  DType dtype = DType::kF32;  // no block type
  void fields(auto&& f) { f("dtype", dtype); }
};

// cast(x) -> x's shape with elements of `dtype`.
void register_cast(OpRegistry& ops);
void register_cast_cpu(KernelRegistry& kernels);

}  // namespace headrace
