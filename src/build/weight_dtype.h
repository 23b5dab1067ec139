// How people say what becomes of weights: --dtype, BuildOptions::dtype, LoadOptions::dtype.
#pragma once

#include <string>

namespace headrace {

enum class WeightDType { kAuto, kF32, kBF16, kF16 };  // kF32: exact arithmetic; kBF16, kF16: float matrices are converted to it

// "auto", "fp32", "bf16", "fp16", and PyTorch's names. Throws Error(kInvalidArgument) for others.
WeightDType parse_weight_dtype(const std::string& dtype);

}  // namespace headrace
