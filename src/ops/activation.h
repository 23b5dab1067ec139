// The activation functions that fused ops apply.
#pragma once

#include <cmath>
#include <span>
#include <string_view>

namespace headrace {

enum class Activation {
  kSilu,      // x sigmoid(x)
  kGeluTanh,  // Hendrycks and Gimpel 2016, the approximation by tanh
  kGeluErf,   // the same, exact: x / 2 (1 + erf(x / sqrt 2))
  kRelu,
};

inline std::span<const std::string_view> enum_names(Activation) {
  static constexpr std::string_view kNames[] = {"silu", "gelu_tanh", "gelu_erf", "relu"};
  return kNames;
}

inline float activate(Activation activation, float x) {
  switch (activation) {
    case Activation::kSilu: return x / (1 + std::exp(-x));
    case Activation::kGeluTanh: return 0.5f * x * (1 + std::tanh(0.7978845608f * (x + 0.044715f * x * x * x)));
    case Activation::kGeluErf: return 0.5f * x * (1 + std::erf(x * 0.7071067812f));
    case Activation::kRelu: return x < 0 ? 0 : x;
  }
  return x;
}

}  // namespace headrace
