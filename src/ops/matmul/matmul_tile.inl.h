// A tile of c = a b in registers. Included by files that ops/each_isa.inl.h compiles.
inline constexpr int64_t kTileColumns = 2 * F32::kLanes;

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
