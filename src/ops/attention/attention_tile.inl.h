// A tile of attention: see attention_tile.h. Included by ops/each_isa.inl.h.
#include "ops/attention/attention_micro.inl.h"

inline int clamp_to_chunk(int64_t position) { return position < 0 ? 0 : position > kChunkTokens ? kChunkTokens : int(position); }

// What some row sees of a chunk: both bounds rise with the rows.
inline AttentionTile::Range seen_of_chunk(const AttentionTile& tile, int64_t chunk, const AttentionScratch& at) {
  const int64_t start = chunk * kChunkTokens;
  return {clamp_to_chunk(at.visible[0].begin - start), clamp_to_chunk(at.visible[tile.num_rows - 1].end - start)};
}

// What each row sees of it.
inline void see_chunk(const AttentionTile& tile, int64_t chunk, const AttentionScratch& at) {
  for (int r = 0; r < tile.num_rows; ++r) {
    at.begin[r] = clamp_to_chunk(at.visible[r].begin - chunk * kChunkTokens);
    at.end[r] = clamp_to_chunk(at.visible[r].end - chunk * kChunkTokens);
    if (at.begin[r] >= at.end[r]) at.begin[r] = at.end[r] = 0;
  }
}

// Where positions [begin, end) of a chunk lie. The others get a neighbour's vector, so that whole vectors of positions can be loaded.
inline void find_vectors(const KvVectors& kv, const AttentionTile& tile, int64_t chunk, const AttentionScratch& at,
                         const std::byte** rows) {
  const AttentionTile::Range seen = seen_of_chunk(tile, chunk, at);
  const int begin = int(seen.begin), end = int(seen.end);
  for (int j = begin; j < end;) {
    const int64_t position = chunk * kChunkTokens + j, place = position % tile.block_tokens;
    const std::byte* row = kv.data + tile.table[position / tile.block_tokens] * kv.block_stride + place * kv.token_stride;
    for (int64_t left = tile.block_tokens - place; left > 0 && j < end; --left, row += kv.token_stride) rows[j++] = row;
  }
  for (int j = 0; j < begin; ++j) rows[j] = rows[begin];
  for (int j = end; j < kChunkTokens; ++j) rows[j] = rows[end - 1];
}

// A chunk's keys and values, and the keys that will be wanted after them.
struct ChunkVectors {
  const std::byte *const *keys, *const *values, *const *next_keys;  // (kChunkTokens)
};

// The q, keys or values of a scratch, which holds them as elements of any kind.
template <typename P>
typename P::Element* as(float* panels) {
  return reinterpret_cast<typename P::Element*>(panels);
}

// Scores of one row, already times scale, become weights exp(score - m); returns m and l. Positions outside [begin, end) weigh 0.
template <typename P>
inline void weigh_scores_of_row(float* scores, int begin, int end, float softcap, float& m, float& l) {
  alignas(64) static constexpr float kIota[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  const F32 lowest = broadcast(-INFINITY);
  const int first = begin / kLanes * kLanes;
  F32 top = lowest, total = zero();
  for (int j = first; j < end; j += kLanes) {
    F32 x = load(scores + j);
    if (softcap > 0) store(scores + j, x = broadcast(softcap) * tanh(x / broadcast(softcap)));
    if (j < begin || j + kLanes > end) {
      const F32 lane = load(kIota) + broadcast(float(j));
      x = select(less(lane, broadcast(float(begin))), lowest, select(less(lane, broadcast(float(end))), x, lowest));
      store(scores + j, x);
    }
    top = max(top, x);
  }
  m = reduce_max(top);
  for (int j = first; j < end; j += kLanes) {
    const F32 weight = P::exp_of_score(load(scores + j) - broadcast(m));
    total = total + weight;
    P::store_numbers(as<P>(scores), j, weight);
  }
  l = reduce_add(total);
}

template <typename P>
void weigh_scores(const AttentionShape& shape, int rows, const Partial& out, const AttentionScratch& at) {
  for (int r = 0; r < rows; ++r)
    if (at.begin[r] < at.end[r])
      weigh_scores_of_row<P>(at.scores + r * kChunkTokens, at.begin[r], at.end[r], shape.softcap, out.m[r], out.l[r]);
}

// Scores and weighted values of many rows: keys and values are brought into panels first.
template <typename P>
void compute_tile(const AttentionShape& shape, int rows, AttentionTile::Range seen, const ChunkVectors& vectors, const Partial& out,
                  const AttentionScratch& at) {
  const int dim = shape.padded_dim(), begin = int(seen.begin), end = int(seen.end), depth = elements<P>(shape.head_dim);
  load_keys<P>(vectors.keys, vectors.values, begin, end, shape.head_dim, as<P>(at.keys));
  load_values<P>(vectors.values, vectors.next_keys, begin, end, shape.head_dim, as<P>(at.values));
  for (int j = begin / kPanel * kPanel; j < end; j += kPanel)
    for_row_groups(rows, [&]<int kRows>(int r) {
      bool seen_by_some = false;
      for (int i = r; i < r + kRows; ++i) seen_by_some |= at.begin[i] < j + kPanel && at.end[i] > j;
      if (seen_by_some)
        score_panel<P, kRows>(as<P>(at.q + r * dim), dim, as<P>(at.keys) + j * depth, depth, at.scores + r * kChunkTokens + j);
    });
  weigh_scores<P>(shape, rows, out, at);
  for_panels((shape.head_dim + kLanes - 1) / kLanes, [&]<int kWidth>(int v) {
    const PanelValues<P, kWidth> values{as<P>(at.values) + v * kLanes * elements<P>(kChunkTokens)};
    for_row_groups(rows, [&]<int kRows>(int r) {
      weigh_seen<P, kRows, kWidth>(at.scores + r * kChunkTokens, values, at.begin + r, at.end + r, out.o + r * dim + v * kLanes, dim);
    });
  });
}

// The same sums for a single group of rows, straight from the cache: memory is read all the while.
template <typename P>
void compute_group(const AttentionShape& shape, int rows, AttentionTile::Range seen, const ChunkVectors& vectors, const Partial& out,
                   const AttentionScratch& at) {
  const int dim = shape.padded_dim();
  for_row_groups(rows, [&]<int kRows>(int) {
    for (int j = int(seen.begin) / kLanes * kLanes; j < seen.end; j += kLanes)
      score_vectors<P, kRows>(as<P>(at.q), dim, vectors.keys + j, vectors.values + j, shape.head_dim, at.scores + j);
    weigh_scores<P>(shape, rows, out, at);
    for_panels(shape.head_dim / kLanes, [&]<int kWidth>(int v) {
      const StoredValues<P, kWidth> values{vectors.values, vectors.next_keys, v * kLanes};
      weigh_seen<P, kRows, kWidth>(at.scores, values, at.begin, at.end, out.o + v * kLanes, dim);
    });
  });
}

// Computes one of the chunks of a job that ends before chunk `stop`. The keys' places are known: from start_job, or from the chunk before.
template <typename P>
void compute_chunk(const AttentionShape& shape, const AttentionTile& tile, int64_t chunk, int64_t stop, const Partial& out,
                   const AttentionScratch& at) {
  const int rows = int(tile.num_rows);
  ChunkVectors vectors{at.key_rows[chunk % 2], at.value_rows, at.value_rows};
  see_chunk(tile, chunk, at);
  find_vectors(tile.values, tile, chunk, at, at.value_rows);
  if (chunk + 1 < stop)
    find_vectors(tile.keys, tile, chunk + 1, at, at.key_rows[(chunk + 1) % 2]), vectors.next_keys = at.key_rows[(chunk + 1) % 2];
  std::memset(out.o, 0, size_t(rows) * size_t(shape.padded_dim()) * sizeof(float));
  const auto compute = rows <= kGroupRows && shape.head_dim % (kLanes * P::kDepth) == 0 ? compute_group<P> : compute_tile<P>;
  compute(shape, rows, seen_of_chunk(tile, chunk, at), vectors, out, at);
}

// Calls body(row, token, head) for a tile's rows; head: of the group.
template <typename Body>
inline void for_rows(const AttentionShape& shape, const AttentionTile& tile, Body&& body) {
  int64_t token = tile.first_row / shape.group, head = tile.first_row % shape.group;
  for (int r = 0; r < tile.num_rows; ++r) {
    body(r, token, head);
    if (++head == shape.group) head = 0, ++token;
  }
}

inline void find_visible(const AttentionShape& shape, const AttentionTile& tile, const AttentionScratch& at) {
  for_rows(shape, tile, [&](int r, int64_t token, int64_t) { at.visible[r] = tile.visible_to(shape, token); });
}

inline void start_fold(const AttentionShape& shape, const AttentionTile& tile, const AttentionScratch& at) {
  std::memset(at.o, 0, size_t(tile.num_rows) * size_t(shape.padded_dim()) * sizeof(float));
  for (int r = 0; r < kTileRows; ++r) at.m[r] = -INFINITY, at.l[r] = 0;
}

// Rows that see nothing of the chunk stay as they are.
inline void fold(const AttentionShape& shape, const AttentionTile& tile, const Partial& in, const AttentionScratch& at) {
  const int rows = int(tile.num_rows), dim = shape.padded_dim();
  for (int r = 0; r < rows; r += kLanes) {
    const int n = rows - r < kLanes ? rows - r : kLanes;
    const F32 m = load(at.m + r, n), new_m = load(in.m + r, n), top = max(m, new_m);
    store(at.old_factor + r, exp(m - top));
    store(at.new_factor + r, exp(new_m - top));
  }
  for (int r = 0; r < rows; ++r) {
    if (at.begin[r] >= at.end[r]) continue;
    const F32 keep = broadcast(at.old_factor[r]), add = broadcast(at.new_factor[r]);
    float* o = at.o + r * dim;
    for (int d = 0; d < shape.head_dim; d += kLanes) store(o + d, fma(load(in.o + r * dim + d), add, load(o + d) * keep));
    at.l[r] = at.l[r] * at.old_factor[r] + in.l[r] * at.new_factor[r];
    at.m[r] = at.m[r] < in.m[r] ? in.m[r] : at.m[r];
  }
}

// y = o / l; 0 for a row that saw nothing.
inline void finish(const AttentionShape& shape, const AttentionTile& tile, const AttentionScratch& at) {
  for_rows(shape, tile, [&](int r, int64_t token, int64_t head) {
    float* y = tile.y + token * tile.y_stride + head * shape.head_dim;
    const F32 scale = broadcast(at.l[r] == 0 ? 0 : 1 / at.l[r]);
    for (int d = 0; d < shape.head_dim; d += kLanes)
      store(y + d, load(at.o + r * shape.padded_dim() + d) * scale, shape.head_dim - d < kLanes ? shape.head_dim - d : kLanes);
  });
}

// Prepares to compute chunks, the first one to begin with.
template <typename P>
void start_job(const AttentionShape& shape, const AttentionTile& tile, int64_t first, const AttentionScratch& at) {
  find_visible(shape, tile, at);
  find_vectors(tile.keys, tile, first, at, at.key_rows[first % 2]);
  for_rows(shape, tile, [&](int r, int64_t token, int64_t head) {
    const float* q = tile.q + token * tile.q_stride + head * shape.head_dim;
    for (int d = 0; d < shape.head_dim; d += kLanes)
      P::store_numbers(as<P>(at.q + r * shape.padded_dim()), d,
                       load(q + d, shape.head_dim - d < kLanes ? shape.head_dim - d : kLanes) * broadcast(shape.scale));
  });
}

template <typename P>
void attend(const AttentionShape& shape, const AttentionTile& tile, std::byte* scratch) {
  const AttentionScratch at(scratch, shape);
  const Partial partial(at.partial, tile.num_rows, shape.padded_dim());
  const AttentionTile::Range chunks = tile.chunks(shape);
  if (chunks.begin < chunks.end) start_job<P>(shape, tile, chunks.begin, at);
  start_fold(shape, tile, at);
  for (int64_t chunk = chunks.begin; chunk < chunks.end; ++chunk) {
    compute_chunk<P>(shape, tile, chunk, chunks.end, partial, at);
    fold(shape, tile, partial, at);
  }
  finish(shape, tile, at);
}

template <typename P>
void attend_chunks(const AttentionShape& shape, const AttentionTile& tile, int64_t begin, int64_t end, float* partials,
                   std::byte* scratch) {
  const AttentionScratch at(scratch, shape);
  const int64_t first = tile.chunks(shape).begin, size = Partial::floats(tile.num_rows, shape.padded_dim());
  start_job<P>(shape, tile, begin, at);
  for (int64_t chunk = begin; chunk < end; ++chunk)
    compute_chunk<P>(shape, tile, chunk, end, Partial(partials + (chunk - first) * size, tile.num_rows, shape.padded_dim()), at);
}

inline void fold_chunks(const AttentionShape& shape, const AttentionTile& tile, const float* partials, std::byte* scratch) {
  const AttentionScratch at(scratch, shape);
  const AttentionTile::Range chunks = tile.chunks(shape);
  const int64_t size = Partial::floats(tile.num_rows, shape.padded_dim());
  find_visible(shape, tile, at);
  start_fold(shape, tile, at);
  for (int64_t chunk = chunks.begin; chunk < chunks.end; ++chunk) {
    see_chunk(tile, chunk, at);
    fold(shape, tile, Partial(const_cast<float*>(partials) + (chunk - chunks.begin) * size, tile.num_rows, shape.padded_dim()), at);
  }
  finish(shape, tile, at);
}

template <typename P>
AttentionCode attention_code() {
  return {attend<P>, attend_chunks<P>, fold_chunks};
}
