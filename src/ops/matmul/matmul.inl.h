// A tile of c = a b in registers. Included by ops/each_isa.inl.h.
inline constexpr int64_t kTileColumns = 2 * F32::kLanes;

// Copies rows [0, k) and `columns` columns of b, element (i, j) at b[i * row + j * column], to rows of kTileColumns, the rest zeros.
inline void matmul_pack(const float* b, int64_t row, int64_t column, int64_t k, int64_t columns, float* packed) {
  for (int64_t i = 0; i < k; ++i, packed += kTileColumns) {
    const float* from = b + i * row;
    if (column == 1 && columns == kTileColumns) {
      store(packed, load(from));
      store(packed + F32::kLanes, load(from + F32::kLanes));
    } else {
      for (int64_t j = 0; j < kTileColumns; ++j) packed[j] = j < columns ? from[j * column] : 0;
    }
  }
}

// c[kRows][columns] (+)= a[kRows][k] packed[k][kTileColumns]; adds when `adds`, else overwrites.
template <int kRows>
inline void matmul_tile(const float* a, int64_t a_row, int64_t a_column, const float* packed, int64_t k, float* c, int64_t c_row,
                        int64_t columns, bool adds) {
  F32 sums[kRows][2];
  for (int r = 0; r < kRows; ++r) sums[r][0] = sums[r][1] = zero();
  for (int64_t i = 0; i < k; ++i) {
    const F32 left = load(packed + i * kTileColumns), right = load(packed + i * kTileColumns + F32::kLanes);
    for (int r = 0; r < kRows; ++r) {
      const F32 x = broadcast(a[r * a_row + i * a_column]);
      sums[r][0] = fma(x, left, sums[r][0]);
      sums[r][1] = fma(x, right, sums[r][1]);
    }
  }
  for (int r = 0; r < kRows; ++r)
    for (int half = 0; half < 2; ++half) {
      const int64_t left = columns - half * F32::kLanes;
      if (left <= 0) continue;
      const int m = lanes_of(left);
      float* to = c + r * c_row + half * F32::kLanes;
      store_some(to, adds ? load_some(to, m) + sums[r][half] : sums[r][half], m);
    }
}

// c[m][columns] of one panel of columns: b is packed piece by piece along k, then rows of a pass over it, six at a time.
inline void matmul_panel(const MatmulPanel& p) {
  alignas(64) float packed[kMatmulDepth * kTileColumns];
  for (int64_t begin = 0; begin < p.k || begin == 0; begin += kMatmulDepth) {
    const int64_t depth = p.k - begin < kMatmulDepth ? p.k - begin : kMatmulDepth;
    matmul_pack(p.b + begin * p.b_row, p.b_row, p.b_column, depth, p.columns, packed);
    const float* a = p.a + begin * p.a_column;
    int64_t row = 0;
    for (; row + 6 <= p.m; row += 6)
      matmul_tile<6>(a + row * p.a_row, p.a_row, p.a_column, packed, depth, p.c + row * p.c_row, p.c_row, p.columns, begin > 0);
    for (; row + 2 <= p.m; row += 2)
      matmul_tile<2>(a + row * p.a_row, p.a_row, p.a_column, packed, depth, p.c + row * p.c_row, p.c_row, p.columns, begin > 0);
    for (; row < p.m; ++row)
      matmul_tile<1>(a + row * p.a_row, p.a_row, p.a_column, packed, depth, p.c + row * p.c_row, p.c_row, p.columns, begin > 0);
  }
}

inline int64_t matmul_tile_columns() { return kTileColumns; }
