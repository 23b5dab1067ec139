// Rows of f32 shared by the threads.
#include "ops/for_isa.h"
#include "ops/norm_rows.h"
#include "ops/rms_norm/rms_norm.h"
#include "ops/vector_operand.h"

#define HEADRACE_FOR_EACH_ISA "ops/rms_norm/rms_norm.inl.h"
#include "ops/each_isa.inl.h"

namespace headrace {
namespace {

bool supports(const KernelRequest& request) {
  return request.call.input(0).dtype == DType::kF32 && VectorOperand::supports(request, request.call.num_inputs() - 1);
}

class RmsNormRows : public CpuKernel {
 public:
  explicit RmsNormRows(const KernelRequest& request)
      : op_(request.call.op.name), isa_(cpu_isa(request)), norm_(request.call.as<RmsNorm>()),
        weight_(request, request.call.num_inputs() - 1) {}

  size_t workspace_bytes(std::span<const Tensor> inputs, std::span<const Tensor>) const override { return weight_.workspace_bytes(inputs); }

  void run(Team& team, const Launch& launch) const override {
    const float* weight = weight_.get(team, launch.inputs, launch.workspace);
    const auto row_function = for_isa(isa_, baseline::rms_norm_row, avx2::rms_norm_row, avx512vnni::rms_norm_row);
    for_each_norm_row(team, launch, [&](const float* x, const float* y, float* sum, float* out, int64_t n) {
      row_function(x, y, weight, norm_, sum, out, n);
    });
  }
  std::string description() const override { return op_ + "/rows " + std::string(name(isa_)); }

 private:
  std::string op_;
  CpuIsa isa_;
  RmsNorm norm_;
  VectorOperand weight_;
};

}  // namespace

void register_rms_norm_cpu(KernelRegistry& kernels) {
  for (const char* op : {"rms_norm", "add_rms_norm"})
    kernels.add({.op = op, .name = "rows/cpu", .supports = supports, .make = make_as<RmsNormRows>});
}

}  // namespace headrace
