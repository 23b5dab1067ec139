#include <cstring>

#include "core/block_conversions.h"
#include "core/float16.h"

namespace headrace::blocks {
namespace {

float half_at(const uint8_t* p) {
  uint16_t bits;
  std::memcpy(&bits, p, 2);
  return half_to_float(bits);
}

uint32_t u32_at(const uint8_t* p) {
  uint32_t bits;
  std::memcpy(&bits, p, 4);
  return bits;
}

int low(uint8_t byte) { return byte & 15; }
int high(uint8_t byte) { return byte >> 4; }

// ------------------------------------------------------------------------------------------------ simple blocks
// 4-bit codes of 32 elements lie in 16 bytes: element i in the low half of byte i, element i + 16 in its high half.
// The fifth bits of 5-bit codes lie in one 32-bit word, bit i for element i.

// scale f16 | 32 signed bytes
void widen_q8_0(const uint8_t* b, float* y) {
  const float d = half_at(b);
  for (int i = 0; i < kBlock; ++i) y[i] = float(int8_t(b[2 + i])) * d;
}

// scale f16 | 16 bytes of codes, which stand for code - 8
void widen_q4_0(const uint8_t* b, float* y) {
  const float d = half_at(b);
  for (int i = 0; i < 16; ++i) {
    y[i] = d * float(low(b[2 + i]) - 8);
    y[i + 16] = d * float(high(b[2 + i]) - 8);
  }
}

// scale f16 | minimum f16 | 16 bytes of codes
void widen_q4_1(const uint8_t* b, float* y) {
  const float d = half_at(b), m = half_at(b + 2);
  for (int i = 0; i < 16; ++i) {
    y[i] = d * float(low(b[4 + i])) + m;
    y[i + 16] = d * float(high(b[4 + i])) + m;
  }
}

int fifth_bit(uint32_t bits, int i) { return int(bits >> i & 1) << 4; }

// scale f16 | fifth bits | 16 bytes of codes, which stand for code - 16
void widen_q5_0(const uint8_t* b, float* y) {
  const float d = half_at(b);
  const uint32_t fifth = u32_at(b + 2);
  for (int i = 0; i < 16; ++i) {
    y[i] = d * float((low(b[6 + i]) | fifth_bit(fifth, i)) - 16);
    y[i + 16] = d * float((high(b[6 + i]) | fifth_bit(fifth, i + 16)) - 16);
  }
}

// scale f16 | minimum f16 | fifth bits | 16 bytes of codes
void widen_q5_1(const uint8_t* b, float* y) {
  const float d = half_at(b), m = half_at(b + 2);
  const uint32_t fifth = u32_at(b + 4);
  for (int i = 0; i < 16; ++i) {
    y[i] = d * float(low(b[8 + i]) | fifth_bit(fifth, i)) + m;
    y[i + 16] = d * float(high(b[8 + i]) | fifth_bit(fifth, i + 16)) + m;
  }
}

// scale f16 | 16 bytes of codes, which are looked up
void widen_iq4_nl(const uint8_t* b, float* y) {
  const float d = half_at(b);
  for (int i = 0; i < 16; ++i) {
    y[i] = d * float(kIq4Values[low(b[2 + i])]);
    y[i + 16] = d * float(kIq4Values[high(b[2 + i])]);
  }
}

// ------------------------------------------------------------------------------------------------ K blocks
// 256 elements in groups of 16 or 32, whose small integer scales (and minima) are themselves multiples of a scale per block.

// 16 x (scale 4 bits, minimum 4 bits) | 64 bytes of 2-bit codes | scale f16 | scale of the minima f16
// Each 32 bytes hold four runs of 32 elements, the first in the lowest bits.
void widen_q2_k(const uint8_t* b, float* y) {
  const uint8_t *scales = b, *codes = b + 16;
  const float d = half_at(b + 80), dmin = half_at(b + 82);
  for (int group = 0; group < 16; ++group) {
    const float scale = d * float(low(scales[group])), min = dmin * float(high(scales[group]));
    const int run = group / 2, shift = run % 4 * 2;
    const uint8_t* in = codes + run / 4 * 32 + group % 2 * 16;
    for (int i = 0; i < 16; ++i) y[group * 16 + i] = scale * float(in[i] >> shift & 3) - min;
  }
}

// 32 bytes of third bits | 64 bytes of 2-bit codes, as in q2_k | 16 scales of 6 bits in 12 bytes, which stand for scale - 32 | scale f16
// Bit `run` of byte i % 32 is the third bit; a code stands for code - 4. Scale g has its low 4 bits in half g / 8 of byte g % 8,
// and its high 2 bits in pair g / 4 of byte 8 + g % 4.
void widen_q3_k(const uint8_t* b, float* y) {
  const uint8_t *third = b, *codes = b + 32, *scales = b + 96;
  const float d = half_at(b + 108);
  for (int group = 0; group < 16; ++group) {
    const int six_bits = (scales[group % 8] >> (group / 8 * 4) & 15) | (scales[8 + group % 4] >> (group / 4 * 2) & 3) << 4;
    const float scale = d * float(six_bits - 32);
    const int run = group / 2, shift = run % 4 * 2, half = group % 2 * 16;
    for (int i = 0; i < 16; ++i) {
      const int code = (codes[run / 4 * 32 + half + i] >> shift & 3) | (third[half + i] >> run & 1) << 2;
      y[group * 16 + i] = scale * float(code - 4);
    }
  }
}

struct ScaleAndMin {
  int scale, min;
};

// Eight scales and minima of 6 bits in 12 bytes. The first four of each are the low 6 bits of bytes 0-3 and 4-7; the last four have their
// low 4 bits in the halves of bytes 8-11, and their high 2 bits on top of the bytes before.
ScaleAndMin packed_scale(const uint8_t* p, int group) {
  if (group < 4) return {p[group] & 63, p[group + 4] & 63};
  return {low(p[group + 4]) | p[group - 4] >> 6 << 4, high(p[group + 4]) | p[group] >> 6 << 4};
}

// scale f16 | scale of the minima f16 | 12 bytes of packed scales | 128 bytes of codes
// Each 32 bytes hold two runs of 32 elements, the first in the low halves.
void widen_q4_k(const uint8_t* b, float* y) {
  const float d = half_at(b), dmin = half_at(b + 2);
  const uint8_t* codes = b + 16;
  for (int run = 0; run < 8; ++run) {
    const ScaleAndMin s = packed_scale(b + 4, run);
    const float scale = d * float(s.scale), min = dmin * float(s.min);
    for (int i = 0; i < 32; ++i) {
      const uint8_t byte = codes[run / 2 * 32 + i];
      y[run * 32 + i] = scale * float(run % 2 ? high(byte) : low(byte)) - min;
    }
  }
}

// scale f16 | scale of the minima f16 | 12 bytes of packed scales | 32 bytes of fifth bits, bit `run` of byte i | 128 bytes as in q4_k
void widen_q5_k(const uint8_t* b, float* y) {
  const float d = half_at(b), dmin = half_at(b + 2);
  const uint8_t *fifth = b + 16, *codes = b + 48;
  for (int run = 0; run < 8; ++run) {
    const ScaleAndMin s = packed_scale(b + 4, run);
    const float scale = d * float(s.scale), min = dmin * float(s.min);
    for (int i = 0; i < 32; ++i) {
      const uint8_t byte = codes[run / 2 * 32 + i];
      const int code = (run % 2 ? high(byte) : low(byte)) | (fifth[i] >> run & 1) << 4;
      y[run * 32 + i] = scale * float(code) - min;
    }
  }
}

// 128 bytes of low 4 bits | 64 bytes of high 2 bits | 16 signed scales | scale f16. A code stands for code - 32.
// Each half of the block has 64 bytes of low bits for its runs 0 and 2 (bytes 0-31), 1 and 3 (bytes 32-63), and 32 bytes of high bits.
void widen_q6_k(const uint8_t* b, float* y) {
  const uint8_t *lows = b, *highs = b + 128, *scales = b + 192;
  const float d = half_at(b + 208);
  for (int group = 0; group < 16; ++group) {
    const float scale = d * float(int8_t(scales[group]));
    const int half = group / 8, run = group / 2 % 4, at = group % 2 * 16;
    const uint8_t *low_bits = lows + half * 64 + run % 2 * 32 + at, *high_bits = highs + half * 32 + at;
    for (int i = 0; i < 16; ++i) {
      const int code = (low_bits[i] >> (run / 2 * 4) & 15) | (high_bits[i] >> (run * 2) & 3) << 4;
      y[group * 16 + i] = scale * float(code - 32);
    }
  }
}

}  // namespace

Widen* widening(DType dtype) {
  switch (dtype) {
    case DType::kQ8_0: return widen_q8_0;
    case DType::kQ4_0: return widen_q4_0;
    case DType::kQ4_1: return widen_q4_1;
    case DType::kQ5_0: return widen_q5_0;
    case DType::kQ5_1: return widen_q5_1;
    case DType::kQ2_K: return widen_q2_k;
    case DType::kQ3_K: return widen_q3_k;
    case DType::kQ4_K: return widen_q4_k;
    case DType::kQ5_K: return widen_q5_k;
    case DType::kQ6_K: return widen_q6_k;
    case DType::kIQ4_NL: return widen_iq4_nl;
    default: return nullptr;
  }
}

}  // namespace headrace::blocks
