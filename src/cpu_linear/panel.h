// The packed form of weights: panels of 16 output rows, so that a SIMD lane is an output row and no kernel sums across lanes.
// A panel is a run of blocks along k. All integers are little-endian; "row" is 0..15 within the panel.
//
// Float kinds, one block per k (kBF16: per two k):
//   kF32    [16] float            kF16  [16] half            kBF16  [16][2] bfloat16, the second one k further
// Integer kinds, one block per 32 k. Quads of 4 consecutive k are the unit of the CPU's int8 dot products; "quad q" is 0..7:
//   8 bits  [8 quads][16 rows][4] unsigned
//   4 bits  [4][16 rows][4]: byte i of vector j has quad 2j in its low and quad 2j + 1 in its high half
//   5 bits  as 4 bits, then [8 quads] uint64: bit 4 * row + i is bit 4 of byte i
//   6 bits  as 4 bits, then [2][16 rows][4]: bits 2s, 2s + 1 of vector u are bits 4, 5 of quad 4u + s
//   then scales half [groups][16], then, of affine kinds, minima half [groups][16]. A group is 32 or 16 consecutive k.
// An integer q stands for scale * (q - offset), of affine kinds for scale * q + minimum, of kQ4Table for scale * kIq4Values[q].
#pragma once

#include <array>
#include <cstdint>

#include "headrace/types.h"

namespace headrace {

enum class PanelKind : uint8_t {
  kF32,
  kF16,
  kBF16,
  kBF16Dot,  // kBF16's bytes, multiplied with activations rounded to bfloat16
  kQ8,       // Q8_0
  kQ8Words,  // kQ8's bytes, multiplied with activations widened to 16 bits
  kQ4,
  kQ4Affine,
  kQ4Table,  // Q4_0; Q4_1 Q4_K; IQ4_NL
  kQ5,
  kQ5Affine,   // Q5_0; Q5_1 Q5_K
  kQ6Group16,  // Q6_K
  kQ4Group16,
  kQ4AffineGroup16,  // Q3_K; Q2_K
};
inline constexpr int kNumPanelKinds = 14;
inline constexpr int kPanelRows = 16;

// In which form a kind wants the activations.
enum class ActivationKind : uint8_t { kF32, kBF16, kInt8, kInt8Words };
inline constexpr int kNumActivationKinds = 4;

struct PanelFormat {
  ActivationKind activations;
  int block_k;      // k per block
  int bits;         // of an integer; 0: a float kind
  int groups;       // per block
  int offset_log2;  // the offset is 1 << offset_log2
  bool affine;
  int block_bytes;
};

constexpr PanelFormat integer_panel(int bits, int groups, int offset_log2, bool affine) {
  return {ActivationKind::kInt8, 32, bits, groups, offset_log2, affine, 64 * bits + 32 * groups * (affine ? 2 : 1)};
}

constexpr PanelFormat format_of(PanelKind kind) {
  switch (kind) {
    case PanelKind::kF32: return {ActivationKind::kF32, 1, 0, 0, 0, false, 64};
    case PanelKind::kF16: return {ActivationKind::kF32, 1, 0, 0, 0, false, 32};
    case PanelKind::kBF16: return {ActivationKind::kF32, 2, 0, 0, 0, false, 64};
    case PanelKind::kBF16Dot: return {ActivationKind::kBF16, 2, 0, 0, 0, false, 64};
    case PanelKind::kQ8: return integer_panel(8, 1, 7, false);
    case PanelKind::kQ8Words: {
      PanelFormat format = integer_panel(8, 1, 7, false);
      format.activations = ActivationKind::kInt8Words;
      return format;
    }
    case PanelKind::kQ4: return integer_panel(4, 1, 3, false);
    case PanelKind::kQ4Affine: return integer_panel(4, 1, 0, true);
    case PanelKind::kQ4Table: return integer_panel(4, 1, 7, false);
    case PanelKind::kQ5: return integer_panel(5, 1, 4, false);
    case PanelKind::kQ5Affine: return integer_panel(5, 1, 0, true);
    case PanelKind::kQ6Group16: return integer_panel(6, 2, 5, false);
    case PanelKind::kQ4Group16: return integer_panel(4, 2, 2, false);
    case PanelKind::kQ4AffineGroup16: return integer_panel(4, 2, 0, true);
  }
  return {};
}

// IQ4_NL's sixteen values. Kernels hold them with 128 added, as unsigned bytes.
inline constexpr std::array<int8_t, 16> kIq4Values = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

// Activations lie in tiles of consecutive rows, in the order in which kernels broadcast them; num_rows of a tile is T:
//   kF32   per k:    [T] float
//   kBF16  per 2 k:  [T][2] bfloat16
//   kInt8  per 32 k: [8 quads][T][4] int8, [T] float scale, [2][T] int32: minus the sum of each 16 k
//   kInt8Words  as kInt8, but a quad's numbers as int16, in the order 0 2 1 3
// so that a tile that begins at row r begins at byte r * activation_row_bytes.
constexpr int64_t activation_row_bytes(ActivationKind kind, int64_t k) {
  switch (kind) {
    case ActivationKind::kF32: return (k + 1) / 2 * 8;  // an even number of k, for kBF16
    case ActivationKind::kBF16: return (k + 1) / 2 * 4;
    case ActivationKind::kInt8: return k / 32 * 44;
    case ActivationKind::kInt8Words: return k / 32 * 76;
  }
  return 0;
}

}  // namespace headrace
