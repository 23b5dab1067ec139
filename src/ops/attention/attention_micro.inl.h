// Micro-kernels of attention: blocks of accumulators in registers over panels of keys or values. Included by attention_tile.inl.h.

constexpr int kLanes = F32::kLanes;
constexpr int kVectors = kLanes == 16 ? 4 : 2;  // of a panel's row; with kGroupRows rows the accumulators fill the registers
constexpr int kPanel = kVectors * kLanes;
constexpr int kGroupRows = 6;

// Calls body<count>(first) for groups of nearly equal size of at most kGroupRows rows.
template <typename Body>
inline void for_row_groups(int rows, Body&& body) {
  const int groups = (rows + kGroupRows - 1) / kGroupRows;
  for (int g = 0; g < groups; ++g) {
    const int first = rows * g / groups;
    switch (rows * (g + 1) / groups - first) {
      case 1: body.template operator()<1>(first); break;
      case 2: body.template operator()<2>(first); break;
      case 3: body.template operator()<3>(first); break;
      case 4: body.template operator()<4>(first); break;
      case 5: body.template operator()<5>(first); break;
      default: body.template operator()<6>(first); break;
    }
  }
}

// Asks for the cache lines of a vector's elements [d, d + kLanes). Blocks of a cache lie scattered, which hardware does not foresee.
template <typename T>
inline void prefetch(const std::byte* row, int d) {
  if (d * int(sizeof(T)) % 64 == 0) __builtin_prefetch(row + d * int(sizeof(T)));
}

// Transposes positions [begin, end) of a chunk, widened to whole vectors, into panels (head_dim, kPanel). Meanwhile the vectors
// that will be wanted next are on their way from memory.
template <typename T>
void load_keys(const std::byte* const* rows, const std::byte* const* next, int begin, int end, int head_dim, float* panels) {
  for (int j = begin / kLanes * kLanes; j < end; j += kLanes) {
    float* panel = panels + j / kPanel * kPanel * head_dim + j % kPanel;
    for (int d = 0; d < head_dim; d += kLanes) {
      const int n = lanes_of(head_dim - d);
      for (int i = 0; i < kLanes; ++i) prefetch<T>(next[j + i], d);
      F32 x[kLanes];
      if (n == kLanes) {
#pragma GCC unroll 16
        for (int i = 0; i < kLanes; ++i) x[i] = load(reinterpret_cast<const T*>(rows[j + i]) + d);
      } else {
        for (int i = 0; i < kLanes; ++i) x[i] = load(reinterpret_cast<const T*>(rows[j + i]) + d, n);
      }
      transpose(x);
      float* to = panel + d * kPanel;
#pragma GCC unroll 16
      for (int i = 0; i < kLanes; ++i)
        if (i < n) store(to + i * kPanel, x[i]);
    }
  }
}

// Widens positions [begin, end) of a chunk into panels (positions, kPanel or what is left of head_dim, in whole vectors).
template <typename T>
void load_values(const std::byte* const* rows, const std::byte* const* next, int begin, int end, int head_dim, float* panels) {
  const int dims = (head_dim + kLanes - 1) / kLanes * kLanes;
  for (int first = 0; first < dims; first += kPanel) {
    const int width = dims - first < kPanel ? dims - first : kPanel;
    for (int j = begin; j < end; ++j) {
      const T* row = reinterpret_cast<const T*>(rows[j]);
      float* to = panels + first * kChunkTokens + j * width;
      for (int d = first; d < first + width; d += kLanes, to += kLanes) {
        prefetch<T>(next[j], d);
        store(to, d + kLanes <= head_dim ? load(row + d) : load(row + d, head_dim - d));
      }
    }
  }
}

// scores (rows, kChunkTokens) = q (rows, head_dim) times a panel of keys, summed over head_dim in order.
template <int kRows>
inline void score_panel(const float* q, int q_stride, const float* panel, int head_dim, float* scores) {
  F32 sum[kRows][kVectors];
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sum[r][v] = zero();
  for (int d = 0; d < head_dim; ++d, panel += kPanel) {
    F32 k[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) k[v] = load(panel + v * kLanes);
#pragma GCC unroll 6
    for (int r = 0; r < kRows; ++r) {
      const F32 x = broadcast(q[r * q_stride + d]);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sum[r][v] = fma(x, k[v], sum[r][v]);
    }
  }
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) store(scores + r * kChunkTokens + v * kLanes, sum[r][v]);
}

// The same for few rows and one vector of positions, the keys turned in registers: scores of positions [0, kLanes) of `rows`.
// head_dim is a multiple of kLanes.
template <int kRows, typename T>
inline void score_vectors(const float* q, int q_stride, const std::byte* const* rows, const std::byte* const* next, int head_dim,
                          float* scores) {
  F32 sum[kRows];
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r) sum[r] = zero();
  for (int d = 0; d < head_dim; d += kLanes) {
    F32 x[kLanes];
#pragma GCC unroll 16
    for (int i = 0; i < kLanes; ++i) {
      prefetch<T>(next[i], d);
      x[i] = load(reinterpret_cast<const T*>(rows[i]) + d);
    }
    transpose(x);
#pragma GCC unroll 16
    for (int i = 0; i < kLanes; ++i)
#pragma GCC unroll 6
      for (int r = 0; r < kRows; ++r) sum[r] = fma(broadcast(q[r * q_stride + d + i]), x[i], sum[r]);
  }
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r) store(scores + r * kChunkTokens, sum[r]);
}

// Where a block of kWidth vectors of each position's value comes from: a panel, or the cache itself.
template <int kWidth>
struct PanelValues {
  const float* panel;
  F32 at(int j, int v) const { return load(panel + (j * kWidth + v) * kLanes); }
  void look_ahead(int) const {}
};
template <typename T, int kWidth>
struct StoredValues {
  const std::byte *const *rows, *const *next;
  int first;  // dim
  F32 at(int j, int v) const { return load(reinterpret_cast<const T*>(rows[j]) + first + v * kLanes); }
  void look_ahead(int j) const {
#pragma GCC unroll 4
    for (int v = 0; v < kWidth; ++v) prefetch<T>(next[j], first + v * kLanes);
  }
};

// o (rows, kWidth vectors) += weights (rows, kChunkTokens) times values, over positions [begin, end) in order.
template <int kRows, int kWidth, typename Values>
inline void weigh(const float* weights, const Values& values, int begin, int end, float* o, int o_stride) {
  F32 sum[kRows][kWidth];
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kWidth; ++v) sum[r][v] = load(o + r * o_stride + v * kLanes);
  for (int j = begin; j < end; ++j) {
    F32 x[kWidth];
    values.look_ahead(j);
#pragma GCC unroll 4
    for (int v = 0; v < kWidth; ++v) x[v] = values.at(j, v);
#pragma GCC unroll 6
    for (int r = 0; r < kRows; ++r) {
      const F32 w = broadcast(weights[r * kChunkTokens + j]);
#pragma GCC unroll 4
      for (int v = 0; v < kWidth; ++v) sum[r][v] = fma(w, x[v], sum[r][v]);
    }
  }
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kWidth; ++v) store(o + r * o_stride + v * kLanes, sum[r][v]);
}

// As above for rows that see different positions: those that all see together, the others row by row, each row in order.
template <int kRows, int kWidth, typename Values>
inline void weigh_seen(const float* weights, const Values& values, const int* begin, const int* end, float* o, int o_stride) {
  int first = begin[0], last = end[0];
  for (int r = 1; r < kRows; ++r) {
    first = begin[r] > first ? begin[r] : first;
    last = end[r] < last ? end[r] : last;
  }
  if (last < first) last = first;
  const auto alone = [&](int r, int from, int to) {
    if (from < to) weigh<1, kWidth>(weights + r * kChunkTokens, values, from, to, o + r * o_stride, o_stride);
  };
  for (int r = 0; r < kRows; ++r) alone(r, begin[r], end[r] < first ? end[r] : first);
  weigh<kRows, kWidth>(weights, values, first, last, o, o_stride);
  for (int r = 0; r < kRows; ++r) alone(r, begin[r] > last ? begin[r] : last, end[r]);
}

// Calls body<width>(first) for the panels of a row of vectors, in order.
template <typename Body>
inline void for_panels(int vectors, Body&& body) {
  int v = 0;
  for (; v + kVectors <= vectors; v += kVectors) body.template operator()<kVectors>(v);
  if (vectors - v == 1) body.template operator()<1>(v);
  if constexpr (kVectors > 2) {
    if (vectors - v == 2) body.template operator()<2>(v);
    if (vectors - v == 3) body.template operator()<3>(v);
  }
}
