#include "cpu_linear/row_blocks.h"

#include <cstring>

#include "core/error.h"
#include "core/float16.h"

namespace headrace {
namespace {

// The layouts are described in core/block_widening.cpp.

uint16_t u16_at(const uint8_t* p) {
  uint16_t v;
  std::memcpy(&v, p, 2);
  return v;
}
uint32_t u32_at(const uint8_t* p) {
  uint32_t v;
  std::memcpy(&v, p, 4);
  return v;
}
float half_at(const uint8_t* p) { return half_to_float(u16_at(p)); }

// Element i in the low half of byte i, element i + 16 in its high half.
void split_nibbles(const uint8_t* codes, uint8_t* q) {
  for (int i = 0; i < 16; ++i) {
    q[i] = codes[i] & 15;
    q[i + 16] = codes[i] >> 4;
  }
}
void add_fifth_bits(uint32_t bits, uint8_t* q) {
  for (int i = 0; i < 32; ++i) q[i] = uint8_t(q[i] | (bits >> i & 1) << 4);
}

void read_q8_0(const uint8_t* row, int64_t block, RowBlock& out) {
  const uint8_t* b = row + block * 34;
  out.scale[0] = u16_at(b);
  for (int i = 0; i < 32; ++i) out.q[i] = b[2 + i] ^ 0x80;
}
void read_q4_0(const uint8_t* row, int64_t block, RowBlock& out) {
  const uint8_t* b = row + block * 18;
  out.scale[0] = u16_at(b);
  split_nibbles(b + 2, out.q);
}
void read_q4_1(const uint8_t* row, int64_t block, RowBlock& out) {
  const uint8_t* b = row + block * 20;
  out.scale[0] = u16_at(b);
  out.minimum[0] = u16_at(b + 2);
  split_nibbles(b + 4, out.q);
}
void read_q5_0(const uint8_t* row, int64_t block, RowBlock& out) {
  const uint8_t* b = row + block * 22;
  out.scale[0] = u16_at(b);
  split_nibbles(b + 6, out.q);
  add_fifth_bits(u32_at(b + 2), out.q);
}
void read_q5_1(const uint8_t* row, int64_t block, RowBlock& out) {
  const uint8_t* b = row + block * 24;
  out.scale[0] = u16_at(b);
  out.minimum[0] = u16_at(b + 2);
  split_nibbles(b + 8, out.q);
  add_fifth_bits(u32_at(b + 4), out.q);
}

// K types: 256 elements to a block, eight runs of 32.

void read_q2_k(const uint8_t* row, int64_t block, RowBlock& out) {
  const uint8_t* b = row + block / 8 * 84;
  const int run = int(block % 8);
  const float d = half_at(b + 80), dmin = half_at(b + 82);
  for (int g = 0; g < 2; ++g) {
    const uint8_t scales = b[run * 2 + g];
    out.scale[g] = float_to_half(d * float(scales & 15));
    out.minimum[g] = float_to_half(-dmin * float(scales >> 4));
  }
  const uint8_t* codes = b + 16 + run / 4 * 32;
  for (int i = 0; i < 32; ++i) out.q[i] = codes[i] >> (run % 4 * 2) & 3;
}

void read_q3_k(const uint8_t* row, int64_t block, RowBlock& out) {
  const uint8_t* b = row + block / 8 * 110;
  const int run = int(block % 8);
  const uint8_t* scales = b + 96;
  for (int g = 0; g < 2; ++g) {
    const int group = run * 2 + g;
    const int scale = (scales[group % 8] >> (group / 8 * 4) & 15) | (scales[8 + group % 4] >> (group / 4 * 2) & 3) << 4;
    out.scale[g] = float_to_half(half_at(b + 108) * float(scale - 32));
  }
  const uint8_t *codes = b + 32 + run / 4 * 32, *third = b;
  for (int i = 0; i < 32; ++i) out.q[i] = uint8_t((codes[i] >> (run % 4 * 2) & 3) | (third[i] >> run & 1) << 2);
}

// Scale and minimum of 6 bits each, eight of both in 12 bytes.
void packed_scale(const uint8_t* b, int run, RowBlock& out) {
  const uint8_t* p = b + 4;
  const int scale = run < 4 ? p[run] & 63 : (p[run + 4] & 15) | p[run - 4] >> 6 << 4;
  const int minimum = run < 4 ? p[run + 4] & 63 : p[run + 4] >> 4 | p[run] >> 6 << 4;
  out.scale[0] = float_to_half(half_at(b) * float(scale));
  out.minimum[0] = float_to_half(-half_at(b + 2) * float(minimum));
}

void read_q4_k(const uint8_t* row, int64_t block, RowBlock& out) {
  const uint8_t* b = row + block / 8 * 144;
  const int run = int(block % 8);
  packed_scale(b, run, out);
  const uint8_t* codes = b + 16 + run / 2 * 32;
  for (int i = 0; i < 32; ++i) out.q[i] = codes[i] >> (run % 2 * 4) & 15;
}

void read_q5_k(const uint8_t* row, int64_t block, RowBlock& out) {
  const uint8_t* b = row + block / 8 * 176;
  const int run = int(block % 8);
  packed_scale(b, run, out);
  const uint8_t *fifth = b + 16, *codes = b + 48 + run / 2 * 32;
  for (int i = 0; i < 32; ++i) out.q[i] = uint8_t((codes[i] >> (run % 2 * 4) & 15) | (fifth[i] >> run & 1) << 4);
}

void read_q6_k(const uint8_t* row, int64_t block, RowBlock& out) {
  const uint8_t* b = row + block / 8 * 210;
  const int run = int(block % 8), half = run / 4, quarter = run % 4;
  const uint8_t *codes = b + half * 64 + quarter % 2 * 32, *upper = b + 128 + half * 32;
  for (int i = 0; i < 32; ++i) out.q[i] = uint8_t((codes[i] >> (quarter / 2 * 4) & 15) | (upper[i] >> (quarter * 2) & 3) << 4);
  for (int g = 0; g < 2; ++g) out.scale[g] = float_to_half(half_at(b + 208) * float(int8_t(b[192 + run * 2 + g])));
}

}  // namespace

PanelKind integer_panel_kind(DType dtype) {
  switch (dtype) {
    case DType::kQ8_0: return PanelKind::kQ8;
    case DType::kQ4_0: return PanelKind::kQ4;
    case DType::kQ4_1:
    case DType::kQ4_K: return PanelKind::kQ4Affine;
    case DType::kIQ4_NL: return PanelKind::kQ4Table;
    case DType::kQ5_0: return PanelKind::kQ5;
    case DType::kQ5_1:
    case DType::kQ5_K: return PanelKind::kQ5Affine;
    case DType::kQ6_K: return PanelKind::kQ6Group16;
    case DType::kQ3_K: return PanelKind::kQ4Group16;
    case DType::kQ2_K: return PanelKind::kQ4AffineGroup16;
    default: fail(ErrorCode::kUnsupported, "a {} matrix cannot be multiplied on the CPU", name(dtype));
  }
}

RowBlockReader row_block_reader(DType dtype) {
  switch (dtype) {
    case DType::kQ8_0: return read_q8_0;
    case DType::kQ4_0:
    case DType::kIQ4_NL: return read_q4_0;
    case DType::kQ4_1: return read_q4_1;
    case DType::kQ5_0: return read_q5_0;
    case DType::kQ5_1: return read_q5_1;
    case DType::kQ2_K: return read_q2_k;
    case DType::kQ3_K: return read_q3_k;
    case DType::kQ4_K: return read_q4_k;
    case DType::kQ5_K: return read_q5_k;
    case DType::kQ6_K: return read_q6_k;
    default: fail(ErrorCode::kUnsupported, "a {} matrix cannot be multiplied on the CPU", name(dtype));
  }
}

}  // namespace headrace
