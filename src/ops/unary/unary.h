// Functions of one tensor, element by element, as in PyTorch.
//   neg abs square sign floor ceil round relu (x) -> x's type; round: halves to even; sign of NaN: 0
//   exp log sqrt rsqrt tanh sigmoid silu erf sin cos (x), gelu(x) {tanh} -> x's type, or f32 when x holds integers
#pragma once

#include "device/cpu/cpu_features.h"
#include "ops/kernel.h"

// A table of operations, one a line.
// clang-format off

namespace headrace {

enum class UnaryFunction {
  kNeg, kAbs, kSquare, kSign, kFloor, kCeil, kRound, kRelu, kExp, kLog, kSqrt, kRsqrt, kTanh, kSigmoid, kSilu, kErf, kSin, kCos, kGeluErf, kGeluTanh,
};
// Names of ops; "gelu" is two functions, chosen by its attribute.
inline constexpr std::string_view kUnaryNames[] = {"neg", "abs", "square", "sign", "floor", "ceil", "round", "relu", "exp", "log", "sqrt", "rsqrt", "tanh", "sigmoid", "silu", "erf", "sin", "cos"};

// Hendrycks and Gimpel 2016: x / 2 (1 + erf(x / sqrt 2)), or its approximation by tanh.
struct Gelu {
  bool tanh = false;
  void fields(auto&& f) { f("tanh", tanh); }
};

// n floats through the call's function; out may be x.
using UnaryRun = void (*)(const float* x, float* out, int64_t n);
UnaryRun unary_run(const OpDef& op, const Attributes& attributes, CpuIsa isa);

void register_unary(OpRegistry& ops);
void register_unary_cpu(KernelRegistry& kernels);

}  // namespace headrace
