// One thread's working memory for attention_tile.inl.h, sized to stay in the second-level cache.
#pragma once

#include "ops/attention/attention_tile.h"

namespace headrace {

struct AttentionScratch {
  AttentionScratch(std::byte* memory, const AttentionShape& shape) : next(reinterpret_cast<uintptr_t>(memory)) {
    const int64_t dim = shape.padded_dim();
    q = take<float>(kTileRows * dim), keys = take<float>(kChunkTokens * dim), values = take<float>(kChunkTokens * dim);
    scores = take<float>(kTileRows * kChunkTokens);
    o = take<float>(kTileRows * dim), m = take<float>(kTileRows), l = take<float>(kTileRows);
    partial = take<float>(Partial::floats(kTileRows, dim));
    old_factor = take<float>(kTileRows), new_factor = take<float>(kTileRows);
    key_rows[0] = take<const std::byte*>(kChunkTokens), key_rows[1] = take<const std::byte*>(kChunkTokens),
    value_rows = take<const std::byte*>(kChunkTokens);
    visible = take<AttentionTile::Range>(kTileRows), begin = take<int>(kTileRows), end = take<int>(kTileRows);
  }

  template <typename T>
  T* take(int64_t count) {
    T* taken = reinterpret_cast<T*>(next);
    next += (size_t(count) * sizeof(T) + 63) / 64 * 64;
    return taken;
  }

  uintptr_t next;                               // the end, when all is taken
  float* q;                                     // (rows, dim) scaled
  float* keys;                                  // panels of positions, each (head_dim, positions of the panel)
  float* values;                                // panels of dims, each (positions, dims of the panel)
  float* scores;                                // (rows, positions), then exp(score - m)
  float *o, *m, *l;                             // (rows, dim), (rows), (rows): the chunks folded so far
  float* partial;                               // a Partial: the chunk at hand
  float *old_factor, *new_factor;               // (rows) of a fold
  const std::byte **key_rows[2], **value_rows;  // (positions) the chunk's vectors; keys of even and of odd chunks
  AttentionTile::Range* visible;                // (rows) positions
  int *begin, *end;                             // (rows) the same within the chunk, 0 to kChunkTokens
};

}  // namespace headrace
