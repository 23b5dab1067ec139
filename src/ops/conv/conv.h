// Convolution (cross-correlation, as everybody's) over one or two axes, as PyTorch's conv1d and conv2d. Sums in fp32.
//   conv1d(x (batch, in, length), weight (out, in / groups, kernel)[, bias (out)]) -> (batch, out, places)
//   conv2d(x (batch, in, height, width), weight (out, in / groups, kernel height, kernel width)[, bias (out)]) -> (batch, out, places...)
// with floor((size + 2 padding - dilation (kernel - 1) - 1) / stride) + 1 places along an axis. The result has x's type.
#pragma once

#include "ops/kernel.h"
#include "ops/window.h"

namespace headrace {

// Each list holds a number for every axis, or one for all.
struct Conv {
  std::vector<int64_t> stride = {1}, padding = {0}, dilation = {1};
  int64_t groups = 1;
  void fields(auto&& f) { f("stride", stride), f("padding", padding), f("dilation", dilation), f("groups", groups); }
};

void register_conv(OpRegistry& ops);
void register_conv_cpu(KernelRegistry& kernels);
void register_conv_depthwise_cpu(KernelRegistry& kernels);

// The windows of a conv1d or conv2d, which its weight and attributes give.
Windows conv_windows(const OpCall& call);

}  // namespace headrace
