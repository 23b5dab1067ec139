// Gated linear unit without its linears: act(first half) * second half of the last axis. Shazeer 2020, eq. 5 and 6.
#pragma once

#include "ops/activation.h"
#include "ops/kernel.h"

namespace headrace {

struct Gated {
  Activation activation = Activation::kSilu;
  void fields(auto&& f) { f("activation", activation); }
};

// gated(x (..., 2 n)) of floats -> (..., n) of x's dtype: act(x[..., :n]) * x[..., n:].
void register_gated(OpRegistry& ops);
void register_gated_cpu(KernelRegistry& kernels);

}  // namespace headrace
