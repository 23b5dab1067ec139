// A vector of floats that a CPU kernel applies along rows: a norm's weight, a bias.
#pragma once

#include <vector>

#include "core/blocks.h"
#include "device/cpu/cpu_device.h"
#include "ops/kernel.h"

namespace headrace {

class VectorOperand {
 public:
  // f32, or any float type that is known when the kernel is made.
  static bool supports(const KernelRequest& request, int operand) {
    const DType dtype = request.call.input(operand).dtype;
    return dtype == DType::kF32 || (is_float(dtype) && request.is_constant(operand));
  }

  VectorOperand() = default;  // get gives null
  VectorOperand(const KernelRequest& request, int operand) : operand_(operand) {
    const Tensor& t = request.constants[size_t(operand)].tensor;
    if (!t.data || t.dtype == DType::kF32) return;
    widened_.resize(size_t(t.numel()));
    for (int64_t i = 0; i < t.numel(); ++i)
      to_float(t.dtype, t.as<std::byte>() + i * t.strides[0] * info(t.dtype).block_bytes, &widened_[size_t(i)], 1);
  }

  size_t workspace_bytes(std::span<const Tensor> inputs) const {
    if (operand_ < 0 || !widened_.empty() || inputs[size_t(operand_)].is_contiguous()) return 0;
    return size_t(inputs[size_t(operand_)].sizes[0]) * sizeof(float);
  }

  // The elements as neighbours. All threads call it together; `workspace` has workspace_bytes.
  const float* get(Team& team, std::span<const Tensor> inputs, std::byte* workspace) const {
    if (operand_ < 0) return nullptr;
    if (!widened_.empty()) return widened_.data();
    const Tensor& t = inputs[size_t(operand_)];
    if (t.is_contiguous()) return t.as<float>();
    float* copy = reinterpret_cast<float*>(workspace);
    for (int64_t i = 0; team.rank() == 0 && i < t.sizes[0]; ++i) copy[i] = t.as<float>()[i * t.strides[0]];
    team.barrier();
    return copy;
  }

 private:
  int operand_ = -1;
  std::vector<float> widened_;
};

}  // namespace headrace
