// Conversion of stored elements to and from fp32: the reference meaning of every element type, and the exact path.
// The block layouts are ggml's (little-endian); each is described above its function in block_widening.cpp.
#pragma once

#include "headrace/types.h"

namespace headrace {

// Widens n consecutive elements. Of a block type, n must be a multiple of the block. Throws Error(kInvalidArgument) otherwise.
// One rounding per multiplication and addition, in the order that the `gguf` Python package has: equal to it bit for bit.
void to_float(DType dtype, const void* src, float* dst, int64_t n);

// Rounds n consecutive values to nearest: integers saturate, NaN becomes their lowest value, bool is "not zero". The block types
// q8_0 q4_0 q4_1 q5_0 q5_1 iq4_nl take the scale that reaches their largest value. Throws Error(kUnsupported) for the K types.
void from_float(DType dtype, const float* src, void* dst, int64_t n);

}  // namespace headrace
