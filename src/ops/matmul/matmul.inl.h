// A panel of c = a b, tile by tile. Included by ops/each_isa.inl.h.
#include "ops/matmul/matmul_tile.inl.h"

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
