#include "ops/pad/pad.h"

#include <cmath>
#include <cstring>

#include "ops/reference.h"

namespace headrace {
namespace {

constexpr int64_t kMost = int64_t{1} << 30;  // attributes come from files: sums of two fit 64 bits

std::vector<TensorType> infer(const OpCall& call) {
  const std::vector<int64_t>& pads = call.as<Pad>().pads;
  TensorType y = call.input(0);
  call.want(!is_block(y.dtype), "block types are not padded: cast them to floats first");
  call.want(pads.size() % 2 == 0 && int(pads.size()) <= 2 * y.shape.rank(),
            "pads are wanted as two numbers for each padded axis, from the last backwards");
  const double value = call.as<Pad>().value;
  call.want(!is_integer(y.dtype) || (std::trunc(value) == value && std::fabs(value) <= 0x1p53),
            "value is wanted as an integer, as x has them");
  for (size_t i = 0; i < pads.size(); ++i) {
    if (pads[i] < 0 || pads[i] > kMost) call.reject(fmt::format("pads hold {}; wanted are 0 to 2^30 (slice cuts)", pads[i]));
    Dim& size = y.shape[-1 - int(i / 2)];
    size = size + Dim(pads[i]);
  }
  return {y};
}

void reference(const OpCall& call, std::span<const Tensor> in, std::span<const Tensor> out) {
  const Tensor &x = in[0], &y = out[0];
  const HostTensor element = pad_element(call.as<Pad>(), y.dtype);
  const Sizes before = pads_before(call.as<Pad>(), y.rank());
  const int64_t bytes = info(y.dtype).block_bytes;
  for (int64_t i = 0; i < y.numel(); ++i) {
    int64_t rest = i, offset = 0;
    bool inside = true;
    for (int axis = y.rank() - 1; axis >= 0; --axis) {
      const int64_t at = rest % y.sizes[axis] - before[axis];
      inside = inside && at >= 0 && at < x.sizes[axis];
      offset += at * x.strides[axis];
      rest /= y.sizes[axis];
    }
    std::memcpy(y.as<std::byte>() + i * bytes, inside ? x.as<std::byte>() + offset * bytes : element.as<std::byte>(), size_t(bytes));
  }
}

}  // namespace

Sizes pads_before(const Pad& pad, int rank) {
  Sizes before;
  for (int i = 0; i < rank; ++i) before.push_back(0);
  for (size_t i = 0; i < pad.pads.size(); i += 2) before[-1 - int(i / 2)] = pad.pads[i];
  return before;
}

HostTensor pad_element(const Pad& pad, DType dtype) {
  HostTensor element(dtype, Sizes{});
  if (is_integer(dtype)) write_integers(element, {int64_t(pad.value)});
  else write_floats(element, {float(pad.value)});
  return element;
}

void register_pad(OpRegistry& ops) {
  ops.add({.name = "pad", .attributes = &attribute_type<Pad>(), .min_inputs = 1, .max_inputs = 1, .infer = infer, .reference = reference});
}

}  // namespace headrace
