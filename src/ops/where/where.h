// A choice between two tensors, element by element, with PyTorch's broadcasting and type promotion.
#pragma once

#include "ops/kernel.h"

namespace headrace {

// where(condition bool, x, y) -> x where the condition holds, y elsewhere.
void register_where(OpRegistry& ops);
void register_where_cpu(KernelRegistry& kernels);

}  // namespace headrace
