#include <cmath>
#include <cstring>

#include "core/block_conversions.h"
#include "core/float16.h"

namespace headrace::blocks {
namespace {

// Rounds to half, stores that, and returns what was stored.
float put_half(uint8_t* p, float value) {
  const uint16_t bits = float_to_half(value);
  std::memcpy(p, &bits, 2);
  return half_to_float(bits);
}

// To even in the middle; NaN becomes the lowest.
int nearest(float x, int lowest, int highest) {
  constexpr float kRounder = 0x1.8p23f;  // in a float near it the last bit counts 1, so adding it rounds
  const float inside = x > float(lowest) ? (x < float(highest) ? x : float(highest)) : float(lowest);
  return int(inside + kRounder) - int(kRounder);
}

float inverse(float d) { return d == 0 ? 0 : 1 / d; }

struct Range {
  float min, max;
};

Range range_of(const float* x) {
  Range r{x[0], x[0]};
  for (int i = 1; i < kBlock; ++i) r = {x[i] < r.min ? x[i] : r.min, x[i] > r.max ? x[i] : r.max};
  return r;
}

float largest_magnitude(const float* x) {
  const Range r = range_of(x);
  return -r.min > r.max ? r.min : r.max;
}

void round_q8_0(const float* x, uint8_t* b) {
  const float scale = inverse(put_half(b, std::abs(largest_magnitude(x)) / 127));
  for (int i = 0; i < kBlock; ++i) b[2 + i] = uint8_t(nearest(x[i] * scale, -127, 127));
}

// The value of largest magnitude gets the lowest code, which has no positive twin.
void round_q4_0(const float* x, uint8_t* b) {
  const float scale = inverse(put_half(b, largest_magnitude(x) / -8));
  const auto code = [&](int i) { return nearest(x[i] * scale, -8, 7) + 8; };
  for (int i = 0; i < 16; ++i) b[2 + i] = uint8_t(code(i) | code(i + 16) << 4);
}

void put_five_bits(const std::array<int, kBlock>& codes, uint8_t* fifth, uint8_t* fours) {
  uint32_t bits = 0;
  for (int i = 0; i < kBlock; ++i) bits |= uint32_t(codes[i] >> 4) << i;
  std::memcpy(fifth, &bits, 4);
  for (int i = 0; i < 16; ++i) fours[i] = uint8_t((codes[i] & 15) | (codes[i + 16] & 15) << 4);
}

void round_q5_0(const float* x, uint8_t* b) {
  const float scale = inverse(put_half(b, largest_magnitude(x) / -16));
  std::array<int, kBlock> codes;
  for (int i = 0; i < kBlock; ++i) codes[i] = nearest(x[i] * scale, -16, 15) + 16;
  put_five_bits(codes, b + 2, b + 6);
}

struct MinAndInverse {
  float min, scale;
};

// Stores scale and minimum for codes 0 to `highest`.
MinAndInverse put_range(const float* x, int highest, uint8_t* b) {
  const Range r = range_of(x);
  const float scale = inverse(put_half(b, (r.max - r.min) / float(highest)));
  return {put_half(b + 2, r.min), scale};
}

void round_q4_1(const float* x, uint8_t* b) {
  const MinAndInverse r = put_range(x, 15, b);
  const auto code = [&](int i) { return nearest((x[i] - r.min) * r.scale, 0, 15); };
  for (int i = 0; i < 16; ++i) b[4 + i] = uint8_t(code(i) | code(i + 16) << 4);
}

void round_q5_1(const float* x, uint8_t* b) {
  const MinAndInverse r = put_range(x, 31, b);
  std::array<int, kBlock> codes;
  for (int i = 0; i < kBlock; ++i) codes[i] = nearest((x[i] - r.min) * r.scale, 0, 31);
  put_five_bits(codes, b + 4, b + 8);
}

void round_iq4_nl(const float* x, uint8_t* b) {
  const float scale = inverse(put_half(b, largest_magnitude(x) / kIq4Values[0]));
  const auto code = [&](int i) {  // the number of middles between neighbouring values that lie below
    int below = 0;
    for (int k = 0; k < 15; ++k) below += x[i] * scale > float(kIq4Values[k] + kIq4Values[k + 1]) / 2;
    return below;
  };
  for (int i = 0; i < 16; ++i) b[2 + i] = uint8_t(code(i) | code(i + 16) << 4);
}

}  // namespace

Round* rounding(DType dtype) {
  switch (dtype) {
    case DType::kQ8_0: return round_q8_0;
    case DType::kQ4_0: return round_q4_0;
    case DType::kQ4_1: return round_q4_1;
    case DType::kQ5_0: return round_q5_0;
    case DType::kQ5_1: return round_q5_1;
    case DType::kIQ4_NL: return round_iq4_nl;
    default: return nullptr;
  }
}

}  // namespace headrace::blocks
