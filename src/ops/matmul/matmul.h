// Product of matrices, as PyTorch's matmul: leading axes are batches and broadcast; a vector is a row on the left and a column
// on the right, and its axis is missing in the result. Sums in fp32.
#pragma once

#include "ops/kernel.h"

namespace headrace {

// matmul(a (..., m, k), b (..., k, n)) -> (..., m, n); both of one float type, which is the result's too.
void register_matmul(OpRegistry& ops);
void register_matmul_cpu(KernelRegistry& kernels);

// Both operands and the result as batches of matrices.
struct MatmulView {
  Sizes batch;     // the result's leading axes
  Tensor a, b, c;  // (batch..., m, k), (batch..., k, n), (batch..., m, n); stride 0 where a batch axis is broadcast
  MatmulView(const Tensor& a, const Tensor& b, const Tensor& c);
};

}  // namespace headrace
