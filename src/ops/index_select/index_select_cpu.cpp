// Walks over the result with x at stride 0 along the chosen axis; the index puts each run where it belongs.
#include <algorithm>
#include <cstring>

#include "device/cpu/cpu_device.h"
#include "ops/index_select/index_select.h"
#include "ops/strided_loop.h"

namespace headrace {
namespace {

int64_t index_at(const Tensor& indices, int64_t offset) {
  return indices.dtype == DType::kI32 ? indices.as<int32_t>()[offset] : indices.as<int64_t>()[offset];
}

class IndexSelectKernel : public CpuKernel {
 public:
  explicit IndexSelectKernel(const KernelRequest& request) : axis_(int(request.call.as<IndexSelect>().axis)) {}

  void run(Team& team, const Launch& launch) const override {
    const Tensor &indices = launch.inputs[1], out = in_blocks(launch.outputs[0]);
    Tensor x = in_blocks(launch.inputs[0]);
    if (x.numel() == 0) {
      if (team.rank() == 0) std::memset(out.data, 0, size_t(launch.outputs[0].bytes()));
      return;
    }
    const int64_t last = x.sizes[axis_] - 1, stride = x.strides[axis_], bytes = info(x.dtype).block_bytes;
    x.sizes[axis_] = 1;
    Tensor spread{indices.data, indices.dtype, out.sizes, out.strides};  // indices along the axis, repeated along the others
    for (int i = 0; i < out.rank(); ++i) spread.strides[i] = 0;
    spread.strides[axis_] = indices.strides[0];
    const StridedLoop loop(out.sizes, {out, x, spread});
    loop.run(team, [&](const StridedLoop::Offsets& at, int64_t n) {
      std::byte* to = out.as<std::byte>() + at[0] * bytes;
      const std::byte* from = x.as<std::byte>() + at[1] * bytes;
      const auto chosen = [&](int64_t i) {
        return std::clamp<int64_t>(index_at(indices, at[2] + i * loop.step(2)), 0, last) * stride * bytes;
      };
      if (loop.step(2) == 0) return copy_run(to, 1, from + chosen(0), loop.step(1), n, bytes);
      for (int64_t i = 0; i < n; ++i) std::memcpy(to + i * bytes, from + i * loop.step(1) * bytes + chosen(i), size_t(bytes));
    });
  }
  std::string description() const override { return "index_select/runs"; }

 private:
  int axis_;
};

}  // namespace

void register_index_select_cpu(KernelRegistry& kernels) {
  kernels.add({.op = "index_select", .name = "runs/cpu", .supports = supports_all, .make = make_as<IndexSelectKernel>});
}

}  // namespace headrace
