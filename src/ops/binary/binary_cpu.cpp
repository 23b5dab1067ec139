// Binary functions of f32 on a CPU: threads share the runs of the broadcast operands.
#include <algorithm>

#include "ops/binary/binary.h"
#include "ops/for_isa.h"
#include "ops/strided_loop.h"

#define HEADRACE_FOR_EACH_ISA "ops/binary/binary.inl.h"
#include "ops/each_isa.inl.h"

namespace headrace {
namespace {

template <float (*kFunction)(float, float)>
void scalar_run(const float* x, const float* y, float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = kFunction(x[i], y[i]);
}

bool supports(const KernelRequest& request) {
  return request.call.input(0).dtype == DType::kF32 && request.call.input(1).dtype == DType::kF32;
}

class BinaryKernel : public CpuKernel {
 public:
  explicit BinaryKernel(const KernelRequest& request)
      : op_(request.call.op.name), isa_(cpu_isa(request)), run_(binary_run(request.call.op, isa_)) {}

  void run(Team& team, const Launch& launch) const override {
    const Tensor &x = launch.inputs[0], &y = launch.inputs[1], &out = launch.outputs[0];
    const StridedLoop loop(out.sizes, {out, x, y});
    float x_copy[StridedLoop::kRun], y_copy[StridedLoop::kRun];
    loop.run(team, [&](const StridedLoop::Offsets& at, int64_t n) {
      run_(dense(x.as<float>() + at[1], loop.step(1), n, x_copy), dense(y.as<float>() + at[2], loop.step(2), n, y_copy),
           out.as<float>() + at[0], n);
    });
  }
  std::string description() const override { return op_ + "/runs " + std::string(name(isa_)); }

 private:
  std::string op_;
  CpuIsa isa_;
  BinaryRun run_;
};

}  // namespace

BinaryRun binary_run(const OpDef& op, CpuIsa isa) {
  const auto function = BinaryFunction(std::find(std::begin(kBinaryNames), std::end(kBinaryNames), op.name) - kBinaryNames);
  const BinaryRun run = for_isa(isa, baseline::binary_function, avx2::binary_function, avx512vnni::binary_function)(function);
  return run ? run : function == BinaryFunction::kPow ? scalar_run<std::pow> : scalar_run<remainder_of>;
}

void register_binary_cpu(KernelRegistry& kernels) {
  for (std::string_view op : kBinaryNames)
    kernels.add({.op = std::string(op), .name = "runs/cpu", .supports = supports, .make = make_as<BinaryKernel>});
}

}  // namespace headrace
