// Walks over the result with x at stride 0 along the chosen axis; the index says how far along it each element is.
#include <algorithm>
#include <cstring>

#include "device/cpu/cpu_device.h"
#include "ops/gather/gather.h"
#include "ops/strided_loop.h"

namespace headrace {
namespace {

using GatherRun = void (*)(const void* x, int64_t x_step, int64_t stride, int64_t last, const void* index, int64_t index_step, void* out,
                           int64_t n);

// stride: of x along the chosen axis; last: the highest index there.
template <typename T, typename Index>
void gather_run(const void* x, int64_t x_step, int64_t stride, int64_t last, const void* index, int64_t index_step, void* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const int64_t chosen = std::clamp<int64_t>(static_cast<const Index*>(index)[i * index_step], 0, last);
    static_cast<T*>(out)[i] = static_cast<const T*>(x)[i * x_step + chosen * stride];
  }
}

template <typename Index>
GatherRun run_for(int64_t bytes) {
  switch (bytes) {
    case 1: return gather_run<uint8_t, Index>;
    case 2: return gather_run<uint16_t, Index>;
    case 4: return gather_run<uint32_t, Index>;
    default: return gather_run<uint64_t, Index>;
  }
}

class GatherRuns : public CpuKernel {
 public:
  explicit GatherRuns(const KernelRequest& request)
      : axis_(int(request.call.as<Gather>().axis)), bytes_(info(request.call.input(0).dtype).block_bytes),
        index_bytes_(info(request.call.input(1).dtype).block_bytes),
        run_(index_bytes_ == 4 ? run_for<int32_t>(bytes_) : run_for<int64_t>(bytes_)) {}

  void run(Team& team, const Launch& launch) const override {
    const Tensor &index = launch.inputs[1], &out = launch.outputs[0];
    Tensor x = launch.inputs[0];
    if (x.numel() == 0) {
      if (team.rank() == 0) std::memset(out.data, 0, size_t(out.bytes()));
      return;
    }
    const int64_t last = x.sizes[axis_] - 1, stride = x.strides[axis_];
    x.sizes = out.sizes;
    x.strides[axis_] = 0;
    const StridedLoop loop(out.sizes, {out, x, index});
    loop.run(team, [&](const StridedLoop::Offsets& at, int64_t n) {
      run_(x.as<std::byte>() + at[1] * bytes_, loop.step(1), stride, last, index.as<std::byte>() + at[2] * index_bytes_, loop.step(2),
           out.as<std::byte>() + at[0] * bytes_, n);
    });
  }
  std::string description() const override { return "gather/runs"; }

 private:
  int axis_;  // Sizes counts negative axes from the back too
  int64_t bytes_, index_bytes_;
  GatherRun run_;
};

}  // namespace

void register_gather_cpu(KernelRegistry& kernels) {
  kernels.add({.op = "gather", .name = "runs/cpu", .supports = supports_all, .make = make_as<GatherRuns>});
}

}  // namespace headrace
