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

// Transposes positions [begin, end) of a chunk into panels (head_dim, kPanel); whole vectors of positions, zero outside.
template <typename T>
void load_keys(const std::byte* const* rows, int begin, int end, int head_dim, float* panels) {
  for (int j = begin / kLanes * kLanes; j < end; j += kLanes) {
    float* panel = panels + j / kPanel * kPanel * head_dim + j % kPanel;
    for (int d = 0; d < head_dim; d += kLanes) {
      const int n = head_dim - d < kLanes ? head_dim - d : kLanes;
      F32 x[kLanes];
#pragma GCC unroll 16
      for (int i = 0; i < kLanes; ++i) {
        const T* row = reinterpret_cast<const T*>(rows[j + i]) + d;
        x[i] = j + i < begin || j + i >= end ? zero() : n == kLanes ? load(row) : load(row, n);
      }
      transpose(x);
#pragma GCC unroll 16
      for (int i = 0; i < kLanes; ++i)
        if (i < n) store(panel + (d + i) * kPanel, x[i]);
    }
  }
}

// Widens positions [begin, end) of a chunk into panels (positions, kPanel or what is left of head_dim, in whole vectors).
template <typename T>
void load_values(const std::byte* const* rows, int begin, int end, int head_dim, float* panels) {
  const int dims = (head_dim + kLanes - 1) / kLanes * kLanes;
  for (int first = 0; first < dims; first += kPanel) {
    const int width = dims - first < kPanel ? dims - first : kPanel;
    for (int j = begin; j < end; ++j) {
      const T* row = reinterpret_cast<const T*>(rows[j]);
      float* to = panels + first * kChunkTokens + j * width;
      for (int d = first; d < first + width; d += kLanes, to += kLanes)
        store(to, d + kLanes <= head_dim ? load(row + d) : load(row + d, head_dim - d));
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

// o (rows, kWidth vectors) += weights (rows, kChunkTokens) times a panel of values, over positions [begin, end) in order.
template <int kRows, int kWidth>
inline void weigh_panel(const float* weights, const float* panel, int begin, int end, float* o, int o_stride) {
  F32 sum[kRows][kWidth];
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kWidth; ++v) sum[r][v] = load(o + r * o_stride + v * kLanes);
  for (int j = begin; j < end; ++j) {
    F32 x[kWidth];
#pragma GCC unroll 4
    for (int v = 0; v < kWidth; ++v) x[v] = load(panel + (j * kWidth + v) * kLanes);
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
template <int kRows, int kWidth>
inline void weigh_rows(const float* weights, const float* panel, const int* begin, const int* end, float* o, int o_stride) {
  int first = begin[0], last = end[0];
  for (int r = 1; r < kRows; ++r) {
    first = begin[r] > first ? begin[r] : first;
    last = end[r] < last ? end[r] : last;
  }
  if (last < first) last = first;
  const auto alone = [&](int r, int from, int to) {
    if (from < to) weigh_panel<1, kWidth>(weights + r * kChunkTokens, panel, from, to, o + r * o_stride, o_stride);
  };
  for (int r = 0; r < kRows; ++r) alone(r, begin[r], end[r] < first ? end[r] : first);
  weigh_panel<kRows, kWidth>(weights, panel, first, last, o, o_stride);
  for (int r = 0; r < kRows; ++r) alone(r, begin[r] > last ? begin[r] : last, end[r]);
}
