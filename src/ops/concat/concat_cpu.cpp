// Each operand copied to its part of the result, by all threads.
#include "device/cpu/cpu_device.h"
#include "ops/concat/concat.h"
#include "ops/strided_loop.h"
#include "ops/views/strides.h"

namespace headrace {
namespace {

class ConcatKernel : public CpuKernel {
 public:
  explicit ConcatKernel(int64_t axis) : axis_(int(axis)) {}

  void run(Team& team, const Launch& launch) const override {
    const Tensor& out = launch.outputs[0];
    int64_t begin = 0;
    for (const Tensor& x : launch.inputs) {
      copy_strided(team, x, view_at(out, begin * out.strides[axis_], x.sizes, out.strides));
      begin += x.sizes[axis_];
    }
  }
  std::string description() const override { return "concat/copies"; }

 private:
  int axis_;  // Sizes counts negative axes from the back too
};

}  // namespace

void register_concat_cpu(KernelRegistry& kernels) {
  kernels.add({.op = "concat", .name = "copies/cpu", .supports = [](const KernelRequest&) { return true; },
               .make = [](const KernelRequest& request) -> std::unique_ptr<Kernel> { return std::make_unique<ConcatKernel>(request.call.as<Concat>().axis); }});
}

}  // namespace headrace
