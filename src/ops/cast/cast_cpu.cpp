// Casts to floats on a CPU, by way of fp32: threads share runs, and a block type's run is whole blocks.
#include "core/blocks.h"
#include "device/cpu/cpu_device.h"
#include "ops/cast/cast.h"
#include "ops/strided_loop.h"

namespace headrace {
namespace {

bool supports(const KernelRequest& request) { return is_float(request.outputs[0].dtype); }

class CastKernel : public CpuKernel {
 public:
  void run(Team& team, const Launch& launch) const override {
    const Tensor &x = launch.inputs[0], &out = launch.outputs[0];
    const StridedLoop loop(out.sizes, {out, x});
    static_assert(StridedLoop::kRun % 256 == 0, "runs are whole blocks of every type");
    float wide[StridedLoop::kRun];
    loop.run(team, [&](const StridedLoop::Offsets& at, int64_t n) {
      std::byte* to = out.as<std::byte>() + at[0] * info(out.dtype).block_bytes;
      float* floats = out.dtype == DType::kF32 ? reinterpret_cast<float*>(to) : wide;
      read_run(x, at[1], loop.step(1), floats, n);
      if (floats == wide) from_float(out.dtype, wide, to, n);
    });
  }
  std::string description() const override { return "cast/runs"; }
};

}  // namespace

void register_cast_cpu(KernelRegistry& kernels) {
  kernels.add({.op = "cast", .name = "runs/cpu", .supports = supports, .make = make_as<CastKernel>});
}

}  // namespace headrace
