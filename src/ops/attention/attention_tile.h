// The arithmetic of attention on the CPU, for attention and paged_attention alike. A tile is some query rows of one sequence and
// one kv head. Its keys are taken in chunks at fixed positions [0, 128), [128, 256), ...: scores of a chunk, their maximum, their
// exponentials, the weighted values; chunks are then folded in order of position (online softmax, Milakov and Gimelshein 2018).
//
// A row's result depends on nothing but that row, its keys, the instruction set and the arithmetic: every sum runs over head_dim or
// positions in one fixed order, whatever rows share the tile and whichever thread computes which chunk. So a token gets the same bits in a
// prefill, in pieces of one, one at a time, and next to any other sequences.
#pragma once

#include "core/arithmetic.h"
#include "device/cpu/cpu_features.h"
#include "ops/attention/attention.h"

namespace headrace {

inline constexpr int kChunkTokens = 128;
inline constexpr int kTileRows = 96;

// The same for all tiles of a launch.
struct AttentionShape {
  explicit AttentionShape(const Attention& a)
      : head_dim(a.head_dim), group(a.heads / a.kv_heads), scale(a.score_scale()), softcap(a.softcap), causal(a.causal), window(a.window) {}
  int head_dim, group;  // group: query heads of a kv head
  float scale, softcap;
  bool causal;
  int window;

  int padded_dim() const { return (head_dim + 15) / 16 * 16; }  // of rows in scratch: whole vectors of any instruction set
};

// Keys or values of one sequence and kv head. Position p: data + table[p / block_tokens] * block_stride + p % block_tokens * token_stride.
struct KvVectors {
  const std::byte* data;
  int64_t block_stride, token_stride;  // bytes
};

// Row r of a sequence and kv head is head r % group of token r / group; a tile has num_rows of them from first_row.
struct AttentionTile {
  const float* q;  // (tokens, group * head_dim) of this kv head
  float* y;        // as q
  int64_t q_stride, y_stride;
  int64_t first_row, num_rows;
  int64_t first_position, length;  // of token 0; of the whole sequence
  KvVectors keys, values;
  const int32_t* table;
  int64_t block_tokens;

  struct Range {
    int64_t begin, end;
  };
  // Positions that a token sees.
  Range visible_to(const AttentionShape& shape, int64_t token) const {
    const int64_t end = shape.causal ? first_position + token + 1 : length;
    return {shape.window > 0 && end > shape.window ? end - shape.window : 0, end};
  }
  // Chunks that some row sees.
  Range chunks(const AttentionShape& shape) const {
    const int64_t first_token = first_row / shape.group, last_token = (first_row + num_rows - 1) / shape.group;
    const int64_t end = visible_to(shape, last_token).end;
    return {visible_to(shape, first_token).begin / kChunkTokens, (end + kChunkTokens - 1) / kChunkTokens};
  }
};

// One chunk's share of num_rows rows: o (rows, padded_dim) = sum of exp(score - m) * value, l = sum of exp(score - m).
struct Partial {
  Partial(float* memory, int64_t rows, int64_t padded_dim) : o(memory), m(o + rows * padded_dim), l(m + rows) {}
  static int64_t floats(int64_t rows, int64_t padded_dim) { return rows * (padded_dim + 2); }
  float *o, *m, *l;
};

// Code for one instruction set and type of keys and values.
struct AttentionCode {
  // Folds all chunks and writes y.
  void (*attend)(const AttentionShape&, const AttentionTile&, std::byte* scratch);
  // Computes chunks [begin, end) into partials: of chunk c at partials + (c - first chunk of the tile) * Partial::floats.
  void (*attend_chunks)(const AttentionShape&, const AttentionTile&, int64_t begin, int64_t end, float* partials, std::byte* scratch);
  // Folds those of all chunks and writes y.
  void (*fold_chunks)(const AttentionShape&, const AttentionTile&, const float* partials, std::byte* scratch);
};
// With kFast and a bf16 cache, and where the processor multiplies pairs of bfloat16, query and weights are rounded to it.
AttentionCode attention_code(CpuIsa isa, DType kv, Arithmetic arithmetic);
int64_t attention_scratch_bytes(const AttentionShape& shape);  // one thread's, 64-byte aligned

}  // namespace headrace
