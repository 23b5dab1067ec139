// A border of one value around x, as PyTorch's constant pad.
#pragma once

#include "ops/kernel.h"

namespace headrace {

struct Pad {
  std::vector<int64_t> pads;  // before and after the last axis, then the one before it ...; none is negative (slice cuts)
  double value = 0;           // converted to x's type
  void fields(auto&& f) { f("pads", pads), f("value", value); }
};

// pad(x) -> x's type, larger by the pads.
void register_pad(OpRegistry& ops);
void register_pad_cpu(KernelRegistry& kernels);

// How many elements come before x along each axis.
Sizes pads_before(const Pad& pad, int rank);
// The value as the bytes of one element.
HostTensor pad_element(const Pad& pad, DType dtype);

}  // namespace headrace
