// Root mean square norm: y = x * rsqrt(mean(x^2) + eps) * (weight_offset + weight), over the last axis.
// Zhang and Sennrich 2019, eq. 4; the offset is 1 in models that store the weight's distance from one (Gemma).
#pragma once

#include "ops/kernel.h"

namespace headrace {

struct RmsNorm {
  float eps = 1e-6f;
  float weight_offset = 0;
  void fields(auto&& f) { f("eps", eps), f("weight_offset", weight_offset); }
};

// rms_norm(x (..., hidden), weight (hidden)) -> x's type. Sums in fp32.
// add_rms_norm(x, y, weight) -> (x + y, rms_norm(x + y, weight)): a residual sum and the norm that follows it; x and y of one type.
void register_rms_norm(OpRegistry& ops);
void register_rms_norm_cpu(KernelRegistry& kernels);

}  // namespace headrace
