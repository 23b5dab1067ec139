// linear and fused_linear on a CPU, by cpu_linear's kernels: weights known at load are packed, activations are fp32.
#include <algorithm>
#include <deque>

#include "core/blocks.h"
#include "cpu_linear/fused_linear.h"
#include "device/cpu/cpu_device.h"
#include "ops/dense_rows.h"
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
  // What is known at load has no memory at run time: its parts are computed at load instead.
  if (request.is_constant(0) || (at.residual >= 0 && request.is_constant(at.residual))) return false;
  for (int i = 1; i < at.count; ++i) {
    if (i == at.residual) continue;
    if (!request.is_constant(i)) return false;
    const DType dtype = request.call.input(i).dtype;
    if (request.call.input(i).shape.numel() == Dim(0)) return false;  // nothing to pack
    if (!is_float(dtype) && !(is_block(dtype) && i >= at.first_weight)) return false;
  }
  return true;
}

std::vector<float> widened(const Constant& constant) {
  std::vector<float> values(size_t(constant.tensor.numel()));
  to_float(constant.tensor.dtype, constant.tensor.data, values.data(), int64_t(values.size()));
  return values;
}

constexpr int64_t kSliceBytes = 64 << 20;

// Rows of one slice: whole panels of 16 and about kSliceBytes.
int64_t slice_rows(const Tensor& weight) {
  const int64_t row_bytes = std::max<int64_t>(storage_bytes(weight.dtype, weight.sizes[1]), 1);
  return std::max<int64_t>(kSliceBytes / row_bytes / 256 * 256, 256);
}

Tensor rows_of(const Tensor& weight, int64_t begin, int64_t end) {
  return Tensor::contiguous(static_cast<void*>(weight.as<std::byte>() + storage_bytes(weight.dtype, begin * weight.sizes[1])), weight.dtype,
                            {end - begin, weight.sizes[1]});
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
    const std::shared_ptr<HugePageArena> arena = device.weight_memory();
    for (int i = 0; i < int(a.num_weights); ++i) {
      const Constant& weight = request.constants[at.first_weight + i];
      if (a.bias) biases_.push_back(widened(request.constants[at.first_bias + i]));
      // A large matrix in slices of its rows, so that it is never in memory twice. Gate and up stay whole: they go in pairs.
      const int64_t rows = weight.tensor.sizes[0], step = a.gated ? rows : slice_rows(weight.tensor);
      for (int64_t begin = 0; begin < rows; begin += step) {
        const Tensor slice = rows_of(weight.tensor, begin, std::min(begin + step, rows));
        matrices_.push_back(PackedMatrix::pack(slice, device.isa(), request.arithmetic, arena, device.pool()));
        if (a.bias) slice_biases_.push_back(biases_.back().data() + begin);
        if (weight.release_pages) weight.release_pages();
      }
      if (request.arithmetic == Arithmetic::kExact) sources_.push_back(weight.owner);  // some are read where they lie
    }
    for (const PackedMatrix& m : matrices_) spec_.weights.push_back(&m);
    spec_.biases = slice_biases_;
    spec_.combine = a.gated ? Combine::kGated : Combine::kConcatenate;
    spec_.activation = activation_of(a.activation);
    if (a.norm != FusedLinear::Norm::kNone) {
      norm_weight_ = widened(request.constants[at.norm_weight]);
      if (a.norm_bias) norm_bias_ = widened(request.constants[at.norm_bias]);
      spec_.norm = {.kind = a.norm == FusedLinear::Norm::kRms ? NormKind::kRms : NormKind::kLayer,
                    .weight = norm_weight_.data(),
                    .bias = a.norm_bias ? norm_bias_.data() : nullptr,
                    .eps = a.eps};
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
  int64_t held_bytes() const override {
    size_t floats = norm_weight_.size() + norm_bias_.size();
    for (const std::vector<float>& bias : biases_) floats += bias.size();
    int64_t bytes = int64_t(floats * sizeof(float));
    for (const PackedMatrix& m : matrices_) bytes += m.bytes();
    return bytes;
  }
  std::string description() const override { return op_ + "/packed " + std::string(name(matrices_[0].isa())); }

 private:
  std::string op_;
  int num_threads_ = 1, residual_ = -1;
  std::deque<PackedMatrix> matrices_;  // spec_ points into it
  std::vector<std::shared_ptr<const void>> sources_;
  std::vector<std::vector<float>> biases_;  // one for each weight
  std::vector<const float*> slice_biases_;  // and for each of its slices
  std::vector<float> norm_weight_, norm_bias_;
  LinearSpec spec_;
};

std::unique_ptr<Kernel> make(const KernelRequest& request) {
  RowNeeds needs{.even = {0}};
  if (const int residual = FusedLinearOperands(attributes_of(request.call)).residual; residual >= 0) needs.even.push_back(residual);
  return with_dense_rows(std::make_unique<PackedLinear>(request), std::move(needs));
}

}  // namespace

void register_fused_linear_cpu(KernelRegistry& kernels) {
  for (const char* op : {"linear", "fused_linear"})
    kernels.add({.op = op, .name = "packed/cpu", .device = DeviceKind::kCpu, .supports = supports, .make = make});
}

}  // namespace headrace
