#include "ops/window.h"

#include <fmt/format.h>

namespace headrace {
namespace {

constexpr int64_t kMost = int64_t{1} << 30;  // attributes come from files: sums and products of two fit 64 bits

int64_t value_of(const OpCall& call, const char* name, const std::vector<int64_t>& list, int axis, int axes, int64_t least) {
  call.want(list.size() == 1 || int(list.size()) == axes, fmt::format("{} is wanted as one number, or as one for each of {}", name, axes));
  const int64_t value = list.size() == 1 ? list[0] : list[size_t(axis)];
  call.want(value >= least && value <= kMost, fmt::format("{} is {}; wanted are {} to 2^30", name, value, least));
  return value;
}

// floor(size / divisor), if that is a polynomial too.
std::optional<Dim> floor_of(const Dim& size, int64_t divisor) {
  std::vector<std::string> names;
  size.collect_symbols(names);
  SymbolValues zeros;
  for (const std::string& name : names) zeros[name] = 0;
  const int64_t constant = size.evaluate(zeros), rest = (constant % divisor + divisor) % divisor;
  return (size - Dim(rest)).divided_by(divisor);
}

Dim count_places(const OpCall& call, const Dim& length, const Window& w) {
  const int64_t reach = (w.size - 1) * w.dilation + 1;
  const Dim room = length + Dim(2 * w.padding - reach);
  if (room.is_constant() && room.value() < 0)
    call.reject(fmt::format("the window reaches over {} elements, x with its padding has {}", reach, (room + Dim(reach)).to_string()));
  const std::optional<Dim> steps = floor_of(room, w.stride);
  if (!steps)
    call.reject(
        fmt::format("steps of {} over {} elements cannot be counted before run time: spell the size as a multiple of the stride, {}*n",
                    w.stride, length.to_string(), w.stride));
  return *steps + Dim(1);
}

}  // namespace

Windows windows_of(const OpCall& call, int axes, const WindowLists& lists) {
  Windows windows;
  for (int axis = 0; axis < axes; ++axis)
    windows[size_t(2 - axes + axis)] = {.size = value_of(call, "kernel_size", lists.size, axis, axes, 1),
                                        .stride = value_of(call, "stride", lists.stride, axis, axes, 1),
                                        .padding = value_of(call, "padding", lists.padding, axis, axes, 0),
                                        .dilation = value_of(call, "dilation", lists.dilation, axis, axes, 1)};
  return windows;
}

Shape slide(const OpCall& call, Shape x, int axes, const Windows& windows) {
  for (int axis = -axes; axis < 0; ++axis) x[axis] = count_places(call, x[axis], windows[size_t(2 + axis)]);
  return x;
}

Tensor with_height(const Tensor& t) {
  if (t.rank() != 3) return t;
  return {t.data, t.dtype, {t.sizes[0], t.sizes[1], 1, t.sizes[2]}, {t.strides[0], t.strides[1], 0, t.strides[2]}};
}

}  // namespace headrace
