// A choice between f32 operands on a CPU: threads share the runs of the broadcast operands.
#include "device/cpu/cpu_device.h"
#include "ops/strided_loop.h"
#include "ops/where/where.h"

namespace headrace {
namespace {

bool supports(const KernelRequest& request) {
  return request.call.input(1).dtype == DType::kF32 && request.call.input(2).dtype == DType::kF32;
}

class WhereKernel : public CpuKernel {
 public:
  void run(Team& team, const Launch& launch) const override {
    const Tensor &condition = launch.inputs[0], &x = launch.inputs[1], &y = launch.inputs[2], &out = launch.outputs[0];
    const StridedLoop loop(out.sizes, {out, condition, x, y});
    loop.run(team, [&](const StridedLoop::Offsets& at, int64_t n) {
      const bool* c = condition.as<bool>() + at[1];
      const float *a = x.as<float>() + at[2], *b = y.as<float>() + at[3];
      for (int64_t i = 0; i < n; ++i) out.as<float>()[at[0] + i] = c[i * loop.step(1)] ? a[i * loop.step(2)] : b[i * loop.step(3)];
    });
  }
  std::string description() const override { return "where/runs"; }
};

}  // namespace

void register_where_cpu(KernelRegistry& kernels) {
  kernels.add({.op = "where", .name = "runs/cpu", .supports = supports, .make = make_as<WhereKernel>});
}

}  // namespace headrace
