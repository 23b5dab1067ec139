// A linear layer with what stands before and after it: one pass over the weights, no barrier between the parts.
//   t = norm(x)                                     none, rms_norm or layer_norm
//   u = concat(t W_0^T, t W_1^T, ...) + bias        several weights of any dtypes, merged
//   v = act(u), or act(u_0) * u_1 when gated        gated: two weights of equal size, gate first
//   y = v + residual
#pragma once

#include <array>

#include "ops/kernel.h"

namespace headrace {

struct FusedLinear {
  enum class Norm { kNone, kRms, kLayer };
  enum class Activation { kNone, kSilu, kGelu, kGeluTanh, kRelu };
  int64_t num_weights = 1;
  Norm norm = Norm::kNone;
  float eps = 1e-6f;
  bool norm_bias = false;  // layer norm only
  bool bias = false;
  Activation activation = Activation::kNone;
  bool gated = false;
  bool residual = false;
  void fields(auto&& f) {
    f("num_weights", num_weights), f("norm", norm), f("eps", eps), f("norm_bias", norm_bias), f("bias", bias);
    f("activation", activation), f("gated", gated), f("residual", residual);
  }
};

inline std::span<const std::string_view> enum_names(FusedLinear::Norm) {
  static constexpr std::array<std::string_view, 3> kNames{"none", "rms", "layer"};
  return kNames;
}
inline std::span<const std::string_view> enum_names(FusedLinear::Activation) {
  static constexpr std::array<std::string_view, 5> kNames{"none", "silu", "gelu", "gelu_tanh", "relu"};
  return kNames;
}

// Where each operand stands: x, [norm weight, [norm bias]], weights..., [biases: one for each weight], [residual].
struct FusedLinearOperands {
  explicit FusedLinearOperands(const FusedLinear& a);
  int norm_weight = -1, norm_bias = -1, first_weight = 1, first_bias = -1, residual = -1, count = 0;
};

// fused_linear(x (..., in), ..., weight (out_i, in), ..., bias (out_i), ..., residual (..., out)) -> x's dtype (..., out).
void register_fused_linear(OpRegistry& ops);
void register_fused_linear_cpu(KernelRegistry& kernels);

}  // namespace headrace
