// Conversion of single blocks. The layouts are described above the functions of block_widening.cpp. Internal to src/core.
#pragma once

#include <array>
#include <cstdint>

#include "headrace/types.h"

namespace headrace::blocks {

inline constexpr int kBlock = 32;  // elements of a simple block; K blocks have 256
inline constexpr std::array<int8_t, 16> kIq4Values = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

using Widen = void(const uint8_t* block, float* values);
using Round = void(const float* values, uint8_t* block);
// Null when the type has no blocks.
Widen* widening(DType dtype);
// Null when the type has no blocks, or nobody rounds to it (the K types).
Round* rounding(DType dtype);

}  // namespace headrace::blocks
