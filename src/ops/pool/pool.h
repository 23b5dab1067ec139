// Pooling over windows along the last one or two axes of x (batch, channels, ...) or (channels, ...), as in PyTorch.
//   max_pool1d max_pool2d (x)   the largest of each window; NaN wins; padding never does
//   avg_pool1d avg_pool2d (x)   the mean of each window, in fp32
// of floats -> x's type, with floor((size + 2 padding - dilation (kernel - 1) - 1) / stride) + 1 places along an axis.
#pragma once

#include "ops/kernel.h"
#include "ops/window.h"

namespace headrace {

// Each list holds a number for every axis, or one for all.
struct MaxPool {
  std::vector<int64_t> kernel_size = {1}, stride = {1}, padding = {0}, dilation = {1};  // padding: at most half the kernel
  void fields(auto&& f) { f("kernel_size", kernel_size), f("stride", stride), f("padding", padding), f("dilation", dilation); }
};

struct AvgPool {
  std::vector<int64_t> kernel_size = {1}, stride = {1}, padding = {0};
  bool count_include_pad = true;  // zeros of the padding are part of the mean
  void fields(auto&& f) {
    f("kernel_size", kernel_size), f("stride", stride), f("padding", padding), f("count_include_pad", count_include_pad);
  }
};

struct Pooling {
  bool is_max = false;
  bool counts_padding = false;  // of a mean
  Windows windows;
};
Pooling pooling_of(const OpCall& call);

void register_pool(OpRegistry& ops);
void register_pool_cpu(KernelRegistry& kernels);

}  // namespace headrace
