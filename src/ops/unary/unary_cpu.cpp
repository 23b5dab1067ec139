// Unary functions of f32 on a CPU: threads share the runs of the operand.
#include <algorithm>

#include "ops/for_isa.h"
#include "ops/strided_loop.h"
#include "ops/unary/unary.h"

#define HEADRACE_FOR_EACH_ISA "ops/unary/unary.inl.h"
#include "ops/each_isa.inl.h"

namespace headrace {
namespace {

template <float (*kFunction)(float)>
void scalar_run(const float* x, float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = kFunction(x[i]);
}

UnaryFunction function_of(const OpDef& op, const Attributes& attributes) {
  if (op.name == "gelu") return attributes.as<Gelu>().tanh ? UnaryFunction::kGeluTanh : UnaryFunction::kGeluErf;
  return UnaryFunction(std::find(std::begin(kUnaryNames), std::end(kUnaryNames), op.name) - kUnaryNames);
}

bool supports(const KernelRequest& request) { return request.call.input(0).dtype == DType::kF32; }

class UnaryKernel : public CpuKernel {
 public:
  explicit UnaryKernel(const KernelRequest& request)
      : op_(request.call.op.name), isa_(cpu_isa(request)), run_(unary_run(request.call.op, request.call.attributes, isa_)) {}

  void run(Team& team, const Launch& launch) const override {
    const Tensor &x = launch.inputs[0], &out = launch.outputs[0];
    const StridedLoop loop(out.sizes, {out, x});
    float copy[StridedLoop::kRun];
    loop.run(team, [&](const StridedLoop::Offsets& at, int64_t n) {
      run_(dense(x.as<float>() + at[1], loop.step(1), n, copy), out.as<float>() + at[0], n);
    });
  }
  std::string description() const override { return op_ + "/runs " + std::string(name(isa_)); }

 private:
  std::string op_;
  CpuIsa isa_;
  UnaryRun run_;
};

}  // namespace

UnaryRun unary_run(const OpDef& op, const Attributes& attributes, CpuIsa isa) {
  const UnaryFunction function = function_of(op, attributes);
  if (const UnaryRun run = for_isa(isa, baseline::unary_function, avx2::unary_function, avx512vnni::unary_function)(function)) return run;
  return function == UnaryFunction::kLog   ? scalar_run<std::log>
         : function == UnaryFunction::kSin ? scalar_run<std::sin>
                                           : scalar_run<std::cos>;
}

void register_unary_cpu(KernelRegistry& kernels) {
  for (std::string_view op : kUnaryNames)
    kernels.add({.op = std::string(op), .name = "runs/cpu", .supports = supports, .make = make_as<UnaryKernel>});
  kernels.add({.op = "gelu", .name = "runs/cpu", .supports = supports, .make = make_as<UnaryKernel>});
}

}  // namespace headrace
