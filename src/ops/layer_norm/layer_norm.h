// Layer norm: y = (x - mean(x)) * rsqrt(var(x) + eps) * (weight_offset + weight) + bias, over the last axis; the variance is the
// mean of squared differences. Ba, Kiros and Hinton 2016, eq. 4.
#pragma once

#include "ops/kernel.h"

namespace headrace {

struct LayerNorm {
  float eps = 1e-5f;
  float weight_offset = 0;  // counts only where there is a weight
  void fields(auto&& f) { f("eps", eps), f("weight_offset", weight_offset); }
};

// layer_norm(x (..., hidden)[, weight (hidden)[, bias (hidden)]]) -> x's type. Sums in fp32.
// add_layer_norm(x, y[, weight[, bias]]) -> (x + y, layer_norm(x + y, ...)); x and y of one type.
void register_layer_norm(OpRegistry& ops);
void register_layer_norm_cpu(KernelRegistry& kernels);

}  // namespace headrace
