// Root mean square norm: y = x * rsqrt(mean(x^2) + eps) * weight, over the last axis. Zhang and Sennrich 2019, eq. 4.
#pragma once

#include "ops/kernel.h"

namespace headrace {

struct RmsNorm {
  float eps = 1e-6f;
  void fields(auto&& f) { f("eps", eps); }
};

// rms_norm(x (..., hidden), weight (hidden)) -> x's type. Sums in fp32.
void register_rms_norm(OpRegistry& ops);
void register_rms_norm_cpu(KernelRegistry& kernels);

}  // namespace headrace
