// IEEE half precision and bfloat16 as storage types, rounded to nearest even.
#pragma once

#include <bit>
#include <cstdint>

namespace headrace {

inline float half_to_float(uint16_t h) {
  const uint32_t sign = uint32_t(h & 0x8000u) << 16;
  const uint32_t magnitude = uint32_t(h & 0x7fffu) << 13;
  if ((h & 0x7c00u) == 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | (magnitude & 0x7fffffu));  // infinity, NaN
  // Scaling by 2^112 moves the exponent's bias from 15 to 127, and is exact for subnormals too.
  return std::bit_cast<float>(std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112f) | sign);
}

inline uint16_t float_to_half(float f) {
  const uint32_t bits = std::bit_cast<uint32_t>(f);
  const uint16_t sign = uint16_t(bits >> 16 & 0x8000u);
  uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude >= 0x47800000u) return sign | (magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u);  // NaN, or too large: infinity
  if (magnitude < 0x38800000u) {  // subnormal: adding 0.5 lets the FPU round at bit 2^-24
    const uint32_t rounded = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
    return uint16_t(sign | rounded);
  }
  magnitude += 0xc8000fffu + (magnitude >> 13 & 1u);  // rebias by -112 << 23, round to nearest even
  return uint16_t(sign | magnitude >> 13);
}

inline float bfloat16_to_float(uint16_t b) { return std::bit_cast<float>(uint32_t(b) << 16); }

inline uint16_t float_to_bfloat16(float f) {
  const uint32_t bits = std::bit_cast<uint32_t>(f);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return uint16_t(bits >> 16 | 0x40u);  // NaN stays NaN
  return uint16_t((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

struct Half {
  uint16_t bits = 0;
  Half() = default;
  explicit Half(float f) : bits(float_to_half(f)) {}
  explicit operator float() const { return half_to_float(bits); }
};

struct BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(float f) : bits(float_to_bfloat16(f)) {}
  explicit operator float() const { return bfloat16_to_float(bits); }
};

}  // namespace headrace
