// Comparisons of operands of one type on a CPU: threads share the runs of the broadcast operands.
#include <algorithm>

#include "core/dtype.h"
#include "device/cpu/cpu_device.h"
#include "ops/compare/compare.h"
#include "ops/strided_loop.h"

namespace headrace {
namespace {

template <Comparison kComparison>
void float_run(const float* x, const float* y, float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = compare(kComparison, x[i], y[i]) ? 1.0f : 0.0f;
}

using CompareRun = void (*)(const StridedLoop& loop, const StridedLoop::Offsets& at, std::span<const Tensor> in, bool* out, int64_t n);

template <typename T, Comparison kComparison>
void compare_run(const StridedLoop& loop, const StridedLoop::Offsets& at, std::span<const Tensor> in, bool* out, int64_t n) {
  T x_copy[StridedLoop::kRun], y_copy[StridedLoop::kRun];
  const T* x = dense(in[0].as<T>() + at[1], loop.step(1), n, x_copy);
  const T* y = dense(in[1].as<T>() + at[2], loop.step(2), n, y_copy);
  for (int64_t i = 0; i < n; ++i) out[i] = compare(kComparison, x[i], y[i]);
}

template <typename T>
CompareRun run_of(Comparison comparison) {
  switch (comparison) {
    case Comparison::kEq: return compare_run<T, Comparison::kEq>;
    case Comparison::kNe: return compare_run<T, Comparison::kNe>;
    case Comparison::kLt: return compare_run<T, Comparison::kLt>;
    case Comparison::kLe: return compare_run<T, Comparison::kLe>;
    case Comparison::kGt: return compare_run<T, Comparison::kGt>;
    case Comparison::kGe: return compare_run<T, Comparison::kGe>;
    case Comparison::kLogicalAnd: return compare_run<T, Comparison::kLogicalAnd>;
    case Comparison::kLogicalOr: return compare_run<T, Comparison::kLogicalOr>;
    case Comparison::kLogicalXor: return compare_run<T, Comparison::kLogicalXor>;
  }
  return nullptr;
}

CompareRun run_of(Comparison comparison, DType dtype) {
  switch (dtype) {
    case DType::kF32: return run_of<float>(comparison);
    case DType::kI64: return run_of<int64_t>(comparison);
    case DType::kI32: return run_of<int32_t>(comparison);
    case DType::kBool: return run_of<bool>(comparison);
    default: return nullptr;
  }
}

Comparison comparison_of(const OpDef& op) {
  return Comparison(std::find(std::begin(kComparisonNames), std::end(kComparisonNames), op.name) - kComparisonNames);
}

bool supports(const KernelRequest& request) {
  const DType x = request.call.input(0).dtype;
  return x == request.call.input(1).dtype && run_of(comparison_of(request.call.op), x);
}

class CompareKernel : public CpuKernel {
 public:
  explicit CompareKernel(const KernelRequest& request)
      : op_(request.call.op.name), run_(run_of(comparison_of(request.call.op), request.call.input(0).dtype)) {}

  void run(Team& team, const Launch& launch) const override {
    const Tensor& out = launch.outputs[0];
    const StridedLoop loop(out.sizes, {out, launch.inputs[0], launch.inputs[1]});
    loop.run(team, [&](const StridedLoop::Offsets& at, int64_t n) { run_(loop, at, launch.inputs, out.as<bool>() + at[0], n); });
  }
  std::string description() const override { return op_ + "/runs"; }

 private:
  std::string op_;
  CompareRun run_;
};

}  // namespace

BinaryRun compare_run(const OpDef& op) {
  switch (comparison_of(op)) {
    case Comparison::kEq: return float_run<Comparison::kEq>;
    case Comparison::kNe: return float_run<Comparison::kNe>;
    case Comparison::kLt: return float_run<Comparison::kLt>;
    case Comparison::kLe: return float_run<Comparison::kLe>;
    case Comparison::kGt: return float_run<Comparison::kGt>;
    case Comparison::kGe: return float_run<Comparison::kGe>;
    case Comparison::kLogicalAnd: return float_run<Comparison::kLogicalAnd>;
    case Comparison::kLogicalOr: return float_run<Comparison::kLogicalOr>;
    case Comparison::kLogicalXor: return float_run<Comparison::kLogicalXor>;
  }
  return nullptr;
}

void register_compare_cpu(KernelRegistry& kernels) {
  for (std::string_view op : kComparisonNames)
    kernels.add({.op = std::string(op), .name = "runs/cpu", .supports = supports, .make = make_as<CompareKernel>});
}

}  // namespace headrace
