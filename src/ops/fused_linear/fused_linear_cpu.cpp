// linear and fused_linear on a CPU, by cpu_linear's kernels: weights known at load are packed, activations are fp32.
#include "core/blocks.h"
#include "cpu_linear/fused_linear.h"
#include "device/cpu/cpu_device.h"
#include "ops/fused_linear/fused_linear.h"
#include "ops/linear/linear.h"

namespace headrace {
namespace {

// A plain linear is a fused one without trimmings.
FusedLinear attributes_of(const OpCall& call) {
  if (call.op.name == "fused_linear") return call.as<FusedLinear>();
  return FusedLinear{.bias = call.num_inputs() == 3};
}

bool supports(const KernelRequest& request) {
  const FusedLinear a = attributes_of(request.call);
  const FusedLinearOperands at(a);
  if (request.call.input(0).dtype != DType::kF32) return false;
  for (int i = 1; i < at.count; ++i) {
    if (i == at.residual) continue;
    if (!request.is_constant(i)) return false;
    const DType dtype = request.call.input(i).dtype;
    if (!is_float(dtype) && !(is_block(dtype) && i >= at.first_weight)) return false;
  }
  return true;
}

std::vector<float> widened(const Constant& constant) {
  std::vector<float> values(size_t(constant.tensor.numel()));
  to_float(constant.tensor.dtype, constant.tensor.data, values.data(), int64_t(values.size()));
  return values;
}

LinearActivation activation_of(FusedLinear::Activation activation) {
  switch (activation) {
    case FusedLinear::Activation::kNone: return LinearActivation::kNone;
    case FusedLinear::Activation::kSilu: return LinearActivation::kSilu;
    case FusedLinear::Activation::kGelu: return LinearActivation::kGeluErf;
    case FusedLinear::Activation::kGeluTanh: return LinearActivation::kGeluTanh;
    case FusedLinear::Activation::kRelu: return LinearActivation::kRelu;
  }
  return LinearActivation::kNone;
}

class PackedLinear : public CpuKernel {
 public:
  explicit PackedLinear(const KernelRequest& request) : op_(request.call.op.name) {
    const FusedLinear a = attributes_of(request.call);
    const FusedLinearOperands at(a);
    auto& device = static_cast<CpuDevice&>(request.device);
    num_threads_ = device.pool().size();
    residual_ = at.residual;
    auto arena = std::make_shared<PackArena>();
    matrices_.reserve(size_t(a.num_weights));
    for (int i = 0; i < int(a.num_weights); ++i) {
      const Constant& weight = request.constants[at.first_weight + i];
      matrices_.push_back(PackedMatrix::pack(weight.tensor, device.isa(), request.arithmetic, arena, device.pool()));
      if (request.arithmetic == Arithmetic::kExact) sources_.push_back(weight.owner);  // some are read where they lie
      if (a.bias) biases_.push_back(widened(request.constants[at.first_bias + i]));
    }
    for (const PackedMatrix& m : matrices_) spec_.weights.push_back(&m);
    for (const std::vector<float>& b : biases_) spec_.biases.push_back(b.data());
    spec_.combine = a.gated ? Combine::kGated : Combine::kConcatenate;
    spec_.activation = activation_of(a.activation);
    if (a.norm != FusedLinear::Norm::kNone) {
      norm_weight_ = widened(request.constants[at.norm_weight]);
      if (a.norm_bias) norm_bias_ = widened(request.constants[at.norm_bias]);
      spec_.norm = {.kind = a.norm == FusedLinear::Norm::kRms ? NormKind::kRms : NormKind::kLayer,
                    .weight = norm_weight_.data(), .bias = a.norm_bias ? norm_bias_.data() : nullptr, .eps = a.eps};
    }
    verify(spec_);
  }

  size_t workspace_bytes(std::span<const Tensor> inputs, std::span<const Tensor>) const override {
    return size_t(headrace::workspace_bytes(spec_, inputs[0].num_rows(), num_threads_));
  }

  void run(Team& team, const Launch& launch) const override {
    const Tensor &x = launch.inputs[0], &y = launch.outputs[0];
    LinearRows rows{.x = x.as<float>(), .x_stride = x.row_stride(), .rows = x.num_rows(), .y = y.as<float>(), .y_stride = y.row_stride()};
    if (residual_ >= 0) {
      rows.residual = launch.inputs[size_t(residual_)].as<float>();
      rows.residual_stride = launch.inputs[size_t(residual_)].row_stride();
    }
    if (rows.rows > 0) fused_linear(team, spec_, rows, launch.workspace);
  }

  bool reads_constants() const override { return false; }
  std::string description() const override { return op_ + "/packed " + std::string(name(matrices_[0].isa())); }

 private:
  std::string op_;
  int num_threads_ = 1, residual_ = -1;
  std::vector<PackedMatrix> matrices_;
  std::vector<std::shared_ptr<const void>> sources_;
  std::vector<std::vector<float>> biases_;
  std::vector<float> norm_weight_, norm_bias_;
  LinearSpec spec_;
};

std::unique_ptr<Kernel> make(const KernelRequest& request) { return std::make_unique<PackedLinear>(request); }

}  // namespace

void register_fused_linear_cpu(KernelRegistry& kernels) {
  for (const char* op : {"linear", "fused_linear"})
    kernels.add({.op = op, .name = "packed/cpu", .device = DeviceKind::kCpu, .supports = supports, .make = make});
}

}  // namespace headrace
