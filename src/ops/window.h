// Windows that slide over one or two axes of a tensor: what convolutions and pooling share.
#pragma once

#include <array>
#include <vector>

#include "headrace/graph.h"

namespace headrace {

// Along one axis. Result i sees the elements i * stride - padding + j * dilation with 0 <= j < size; those outside x are padding.
struct Window {
  int64_t size = 1, stride = 1, padding = 0, dilation = 1;
  int64_t begin(int64_t i) const { return i * stride - padding; }
  // How many results have their element j before element `end` of x.
  int64_t results_before(int64_t end, int64_t j) const {
    const int64_t distance = end + padding - j * dilation;
    return distance <= 0 ? 0 : (distance + stride - 1) / stride;
  }
};

// Over height and width. Along one axis only, the height is 1, and so is the window's.
using Windows = std::array<Window, 2>;

// Attributes as PyTorch has them: a number for each axis, or one for all.
struct WindowLists {
  const std::vector<int64_t>&size, &stride, &padding, &dilation;
};

// Of an op over the last `axes` axes, 1 or 2. Rejects through the call what is no window.
Windows windows_of(const OpCall& call, int axes, const WindowLists& lists);

// x's shape with as many elements along each of the last `axes` axes as the window has places there. Rejects a window larger than the
// padded x, and a symbolic size that has no number of places before it is known.
Shape slide(const OpCall& call, Shape x, int axes, const Windows& windows);

// (batch, channels, length) as (batch, channels, 1, length); others as they are.
Tensor with_height(const Tensor& t);

}  // namespace headrace
