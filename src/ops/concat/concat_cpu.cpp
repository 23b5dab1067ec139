// Each operand copied to its part of the result, by all threads.
#include "device/cpu/cpu_device.h"
#include "ops/concat/concat.h"
#include "ops/strided_loop.h"
#include "ops/views/strides.h"

namespace headrace {
namespace {

class ConcatKernel : public CpuKernel {
 public:
  explicit ConcatKernel(const KernelRequest& request) : axis_(int(request.call.as<Concat>().axis)) {}

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
  kernels.add({.op = "concat", .name = "copies/cpu", .supports = supports_all, .make = make_as<ConcatKernel>});
}

}  // namespace headrace
