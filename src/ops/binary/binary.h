// Arithmetic on two tensors, element by element, with PyTorch's broadcasting and type promotion.
//   add sub mul div pow maximum minimum remainder (x, y) -> the promoted type
// div of integers gives f32; maximum and minimum give NaN when either operand is NaN; remainder has y's sign, as Python's %, and an
// integer's remainder of 0 is 0. Integers wrap around.
#pragma once

#include "device/cpu/cpu_features.h"
#include "ops/kernel.h"

namespace headrace {

enum class BinaryFunction { kAdd, kSub, kMul, kDiv, kPow, kMaximum, kMinimum, kRemainder };
inline constexpr std::string_view kBinaryNames[] = {"add", "sub", "mul", "div", "pow", "maximum", "minimum", "remainder"};

float remainder_of(float x, float y);

// n pairs of floats through the op's function; out may be x or y.
using BinaryRun = void (*)(const float* x, const float* y, float* out, int64_t n);
BinaryRun binary_run(const OpDef& op, CpuIsa isa);

void register_binary(OpRegistry& ops);
void register_binary_cpu(KernelRegistry& kernels);

}  // namespace headrace
