// Rows of the result, shared by the threads: the border, or a row of x between its ends.
#include <algorithm>

#include "device/cpu/cpu_device.h"
#include "ops/pad/pad.h"
#include "ops/strided_loop.h"

namespace headrace {
namespace {

template <typename T>
void fill(std::byte* to, int64_t n, const std::byte* element) {
  std::fill_n(reinterpret_cast<T*>(to), n, *reinterpret_cast<const T*>(element));
}

void fill_run(std::byte* to, int64_t n, const std::byte* element, int64_t bytes) {
  switch (bytes) {
    case 1: return fill<uint8_t>(to, n, element);
    case 2: return fill<uint16_t>(to, n, element);
    case 4: return fill<uint32_t>(to, n, element);
    default: return fill<uint64_t>(to, n, element);
  }
}

class PadRows : public CpuKernel {
 public:
  explicit PadRows(const KernelRequest& request)
      : before_(pads_before(request.call.as<Pad>(), request.call.input(0).shape.rank())),
        element_(pad_element(request.call.as<Pad>(), request.call.input(0).dtype)) {}

  void run(Team& team, const Launch& launch) const override {
    const Tensor &x = launch.inputs[0], &y = launch.outputs[0];
    const int64_t bytes = info(x.dtype).block_bytes, last = x.rank() - 1;
    const int64_t length = x.rank() ? x.sizes[-1] : 1, step = x.rank() ? x.strides[-1] : 1, left = x.rank() ? before_[-1] : 0;
    const int64_t out_length = y.rank() ? y.sizes[-1] : 1;
    const auto [begin, end] = team.share(out_length == 0 ? 0 : y.numel() / out_length);
    for (int64_t row = begin; row < end; ++row) {
      std::byte* to = y.as<std::byte>() + row * out_length * bytes;
      int64_t rest = row, offset = 0;
      bool inside = length > 0;
      for (int axis = int(last) - 1; axis >= 0; --axis) {
        const int64_t at = rest % y.sizes[axis] - before_[axis];
        inside = inside && at >= 0 && at < x.sizes[axis];
        offset += at * x.strides[axis];
        rest /= y.sizes[axis];
      }
      if (!inside) {
        fill_run(to, out_length, element_.as<std::byte>(), bytes);
        continue;
      }
      fill_run(to, left, element_.as<std::byte>(), bytes);
      copy_run(to + left * bytes, 1, x.as<std::byte>() + offset * bytes, step, length, bytes);
      fill_run(to + (left + length) * bytes, out_length - left - length, element_.as<std::byte>(), bytes);
    }
  }
  std::string description() const override { return "pad/rows"; }

 private:
  Sizes before_;
  HostTensor element_;
};

}  // namespace

void register_pad_cpu(KernelRegistry& kernels) {
  kernels.add({.op = "pad", .name = "rows/cpu", .supports = supports_all, .make = make_as<PadRows>});
}

}  // namespace headrace
