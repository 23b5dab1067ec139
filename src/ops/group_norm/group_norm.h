// Normalization of groups of channels, Wu and He 2018: (x - mean) / sqrt(variance + eps) * weight + bias, with mean and variance of
// each group's channels over all their places, in fp32, and a weight and a bias for each channel.
#pragma once

#include "ops/kernel.h"

namespace headrace {

struct GroupNorm {
  int64_t groups = 1;
  float eps = 1e-5f;
  void fields(auto&& f) { f("groups", groups), f("eps", eps); }
};

// group_norm(x (batch, channels, ...)[, weight (channels)[, bias (channels)]]) -> x's type
void register_group_norm(OpRegistry& ops);
void register_group_norm_cpu(KernelRegistry& kernels);

}  // namespace headrace
