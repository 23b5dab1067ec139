// Numbers as integers and a scale, as PyTorch's quantize_per_tensor and quantize_per_channel and their dequantize.
//   quantize(x, scale[, zero_point]) {dtype, axis}     x / scale, rounded with halves to even, + zero_point; saturates; NaN: the lowest
//   dequantize(q, scale[, zero_point]) {dtype, axis}   (q - zero_point) * scale, in fp32
// The scale is one number (no axes), one for each element along `axis` (one axis), or has as many axes as x, each with x's size or 1: one
// for each token when the last is 1. The zero point, integers, has the scale's shape.
#pragma once

#include "ops/kernel.h"

namespace headrace {

struct Quantize {
  DType dtype = DType::kI8;  // or u8
  int64_t axis = -1;
  void fields(auto&& f) { f("dtype", dtype), f("axis", axis); }
};

struct Dequantize {
  DType dtype = DType::kF32;  // a float type
  int64_t axis = -1;
  void fields(auto&& f) { f("dtype", dtype), f("axis", axis); }
};

void register_quantize(OpRegistry& ops);
void register_quantize_cpu(KernelRegistry& kernels);

// A scale or zero point with as many axes as x, to be broadcast to its sizes.
Tensor along_axis(const Tensor& scale, int rank, int64_t axis);

}  // namespace headrace
