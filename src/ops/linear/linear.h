// Linear layer: y = x W^T + b. Weights of any dtype, block types too: the reference widens them to fp32.
#pragma once

#include "ops/kernel.h"

namespace headrace {

// linear(x (..., in), weight (out, in)[, bias (out)]) -> x's dtype (..., out). Sums in fp32.
void register_linear(OpRegistry& ops);

}  // namespace headrace
