// Micro-kernels of attention: blocks of accumulators in registers over panels of keys or values. Included by attention_tile.inl.h,
// written over a Products type (attention_products_f32.inl.h).

constexpr int kLanes = F32::kLanes;
constexpr int kVectors = kLanes == 16 ? 4 : 2;  // of a panel's row; with kGroupRows rows the accumulators fill the registers
constexpr int kPanel = kVectors * kLanes;
constexpr int kGroupRows = 6;

// Elements that hold so many numbers.
template <typename P>
constexpr int elements(int numbers) {
  return (numbers + P::kDepth - 1) / P::kDepth;
}

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

// Transposes positions [begin, end) of a chunk, widened to whole vectors, into panels (elements of head_dim, kPanel). Meanwhile the
// vectors that will be wanted next are on their way from memory.
template <typename P>
void load_keys(const std::byte* const* rows, const std::byte* const* next, int begin, int end, int head_dim, typename P::Element* panels) {
  constexpr int kDims = kLanes * P::kDepth;
  const int depth = elements<P>(head_dim);
  for (int j = begin / kLanes * kLanes; j < end; j += kLanes) {
    typename P::Element* panel = panels + j / kPanel * kPanel * depth + j % kPanel;
    for (int d = 0; d < head_dim; d += kDims) {
      for (int i = 0; i < kLanes; ++i) P::prefetch(next[j + i], d);
      typename P::Vector x[kLanes];
      if (const int n = head_dim - d; n >= kDims) {
#pragma GCC unroll 16
        for (int i = 0; i < kLanes; ++i) x[i] = P::load_dims(rows[j + i], d, kDims);
      } else {
        for (int i = 0; i < kLanes; ++i) x[i] = P::load_dims(rows[j + i], d, n);
      }
      transpose(x);
      const int first = d / P::kDepth;
#pragma GCC unroll 16
      for (int i = 0; i < kLanes; ++i)
        if (first + i < depth) store(panel + (first + i) * kPanel, x[i]);
    }
  }
}

// Brings positions [begin, end) of a chunk into panels (elements of positions, kPanel or what is left of head_dim, in whole vectors).
template <typename P>
void load_values(const std::byte* const* rows, const std::byte* const* next, int begin, int end, int head_dim,
                 typename P::Element* panels) {
  const int dims = (head_dim + kLanes - 1) / kLanes * kLanes;
  for (int first = 0; first < dims; first += kPanel) {
    const int width = dims - first < kPanel ? dims - first : kPanel;
    for (int j = begin / P::kDepth; j < elements<P>(end); ++j) {
      const int position = j * P::kDepth;
      typename P::Element* to = panels + first * elements<P>(kChunkTokens) + j * width;
      for (int d = first; d < first + width; d += kLanes, to += kLanes) {
        for (int i = 0; i < P::kDepth; ++i) P::prefetch(next[position + i], d);
        store(to, P::load_positions(rows + position, d, head_dim - d));
      }
    }
  }
}

// scores (rows, kChunkTokens) = q (rows, q_stride) times a panel of keys, summed over their `depth` elements in order.
template <typename P, int kRows>
inline void score_panel(const typename P::Element* q, int q_stride, const typename P::Element* panel, int depth, float* scores) {
  F32 sum[kRows][kVectors];
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sum[r][v] = zero();
  for (int d = 0; d < depth; ++d, panel += kPanel) {
    typename P::Vector k[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) k[v] = load(panel + v * kLanes);
#pragma GCC unroll 6
    for (int r = 0; r < kRows; ++r) {
      const typename P::Vector x = broadcast(q[r * q_stride + d]);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sum[r][v] = P::multiply_add(x, k[v], sum[r][v]);
    }
  }
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) store(scores + r * kChunkTokens + v * kLanes, sum[r][v]);
}

// The same for few rows and one vector of positions, the keys turned in registers: scores of positions [0, kLanes) of `rows`.
// head_dim is a multiple of kLanes elements.
template <typename P, int kRows>
inline void score_vectors(const typename P::Element* q, int q_stride, const std::byte* const* rows, const std::byte* const* next,
                          int head_dim, float* scores) {
  constexpr int kDims = kLanes * P::kDepth;
  F32 sum[kRows];
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r) sum[r] = zero();
  for (int d = 0; d < head_dim; d += kDims) {
    typename P::Vector x[kLanes];
#pragma GCC unroll 16
    for (int i = 0; i < kLanes; ++i) {
      P::prefetch(next[i], d);
      x[i] = P::load_dims(rows[i], d, kDims);
    }
    transpose(x);
#pragma GCC unroll 16
    for (int i = 0; i < kLanes; ++i)
#pragma GCC unroll 6
      for (int r = 0; r < kRows; ++r) sum[r] = P::multiply_add(broadcast(q[r * q_stride + d / P::kDepth + i]), x[i], sum[r]);
  }
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r) store(scores + r * kChunkTokens, sum[r]);
}

// Where a block of kWidth vectors of values comes from, by elements of positions: a panel, or the cache itself.
template <typename P, int kWidth>
struct PanelValues {
  const typename P::Element* panel;
  typename P::Vector at(int j, int v) const { return load(panel + (j * kWidth + v) * kLanes); }
  void look_ahead(int) const {}
};
template <typename P, int kWidth>
struct StoredValues {
  const std::byte *const *rows, *const *next;
  int first;  // dim
  typename P::Vector at(int j, int v) const { return P::load_positions(rows + j * P::kDepth, first + v * kLanes, kLanes); }
  void look_ahead(int j) const {
    for (int i = 0; i < P::kDepth; ++i)
#pragma GCC unroll 4
      for (int v = 0; v < kWidth; ++v) P::prefetch(next[j * P::kDepth + i], first + v * kLanes);
  }
};

// The elements of a row of weights: their numbers take the first bytes of the row's scores.
template <typename P>
const typename P::Element* weights_of_row(const float* scores, int row) {
  return reinterpret_cast<const typename P::Element*>(scores + row * kChunkTokens);
}

// o (rows, kWidth vectors) += weights times values, over elements [begin, end) of positions in order.
template <typename P, int kRows, int kWidth, typename Values>
inline void weigh(const float* weights, const Values& values, int begin, int end, float* o, int o_stride) {
  F32 sum[kRows][kWidth];
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kWidth; ++v) sum[r][v] = load(o + r * o_stride + v * kLanes);
  for (int j = begin; j < end; ++j) {
    typename P::Vector x[kWidth];
    values.look_ahead(j);
#pragma GCC unroll 4
    for (int v = 0; v < kWidth; ++v) x[v] = values.at(j, v);
#pragma GCC unroll 6
    for (int r = 0; r < kRows; ++r) {
      const typename P::Vector w = broadcast(weights_of_row<P>(weights, r)[j]);
#pragma GCC unroll 4
      for (int v = 0; v < kWidth; ++v) sum[r][v] = P::multiply_add(w, x[v], sum[r][v]);
    }
  }
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kWidth; ++v) store(o + r * o_stride + v * kLanes, sum[r][v]);
}

// As above for one row, over positions [begin, end): an element that it sees a part of counts with that part alone.
template <typename P, int kWidth, typename Values>
inline void weigh_alone(const float* weights, const Values& values, int begin, int end, float* o) {
  if (begin >= end) return;
  const auto weigh_part = [&](int j, int from, int to) {
    const typename P::Vector w = broadcast(weights_of_row<P>(weights, 0)[j]);
    for (int v = 0; v < kWidth; ++v) store(o + v * kLanes, P::multiply_add(w, P::only(values.at(j, v), from, to), load(o + v * kLanes)));
  };
  const int first = elements<P>(begin), last = end / P::kDepth;  // whole ones
  if (begin % P::kDepth != 0) weigh_part(first - 1, begin % P::kDepth, P::kDepth);
  weigh<P, 1, kWidth>(weights, values, first, last, o, 0);
  if (end % P::kDepth != 0) weigh_part(last, 0, end % P::kDepth);
}

// As above for rows that see different positions: those that all see together, the others row by row, each row in order.
template <typename P, int kRows, int kWidth, typename Values>
inline void weigh_seen(const float* weights, const Values& values, const int* begin, const int* end, float* o, int o_stride) {
  int first = begin[0], last = end[0];
  for (int r = 1; r < kRows; ++r) {
    first = begin[r] > first ? begin[r] : first;
    last = end[r] < last ? end[r] : last;
  }
  const int first_element = elements<P>(first), last_element = last / P::kDepth > first_element ? last / P::kDepth : first_element;
  first = first_element * P::kDepth, last = last_element * P::kDepth;
  const auto alone = [&](int r, int from, int to) {
    weigh_alone<P, kWidth>(weights + r * kChunkTokens, values, from, to, o + r * o_stride);
  };
  for (int r = 0; r < kRows; ++r) alone(r, begin[r], end[r] < first ? end[r] : first);
  weigh<P, kRows, kWidth>(weights, values, first_element, last_element, o, o_stride);
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
