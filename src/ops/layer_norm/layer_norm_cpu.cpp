// Rows of f32 shared by the threads.
#include "ops/for_isa.h"
#include "ops/layer_norm/layer_norm.h"
#include "ops/norm_rows.h"
#include "ops/vector_operand.h"

#define HEADRACE_FOR_EACH_ISA "ops/layer_norm/layer_norm.inl.h"
#include "ops/each_isa.inl.h"

namespace headrace {
namespace {

int first_parameter(const OpCall& call) { return call.op.name == "add_layer_norm" ? 2 : 1; }

bool supports(const KernelRequest& request) {
  bool fits = request.call.input(0).dtype == DType::kF32;
  for (int i = first_parameter(request.call); fits && i < request.call.num_inputs(); ++i) fits = VectorOperand::supports(request, i);
  return fits;
}

class LayerNormRows : public CpuKernel {
 public:
  explicit LayerNormRows(const KernelRequest& request)
      : op_(request.call.op.name), isa_(cpu_isa(request)), norm_(request.call.as<LayerNorm>()) {
    const int first = first_parameter(request.call);
    if (first < request.call.num_inputs()) weight_ = VectorOperand(request, first);
    if (first + 1 < request.call.num_inputs()) bias_ = VectorOperand(request, first + 1);
  }

  size_t workspace_bytes(std::span<const Tensor> inputs, std::span<const Tensor>) const override {
    return weight_.workspace_bytes(inputs) + bias_.workspace_bytes(inputs);
  }

  void run(Team& team, const Launch& launch) const override {
    const float* weight = weight_.get(team, launch.inputs, launch.workspace);
    const float* bias = bias_.get(team, launch.inputs, launch.workspace + weight_.workspace_bytes(launch.inputs));
    const auto row_function = for_isa(isa_, baseline::layer_norm_row, avx2::layer_norm_row, avx512vnni::layer_norm_row);
    for_each_norm_row(team, launch, [&](const float* x, const float* y, float* sum, float* out, int64_t n) {
      row_function(x, y, weight, bias, norm_, sum, out, n);
    });
  }
  std::string description() const override { return op_ + "/rows " + std::string(name(isa_)); }

 private:
  std::string op_;
  CpuIsa isa_;
  LayerNorm norm_;
  VectorOperand weight_, bias_;
};

}  // namespace

void register_layer_norm_cpu(KernelRegistry& kernels) {
  for (const char* op : {"layer_norm", "add_layer_norm"})
    kernels.add({.op = op, .name = "rows/cpu", .supports = supports, .make = make_as<LayerNormRows>});
}

}  // namespace headrace
