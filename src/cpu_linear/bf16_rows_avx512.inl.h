// A row's way in as bfloat16, for AVX-512 BF16. Included inside a namespace, after rows.inl.h.

// Rounded to nearest even; denormals become zeros, as the dot product takes them.
inline __m256i round_to_bf16(F32 x) { return (__m256i)_mm512_cvtneps_pbh(x.v); }

inline void store_pairs(std::byte* to, __m128i pairs) { _mm_storeu_si128(reinterpret_cast<__m128i*>(to), pairs); }

// Four rows at once, so that their pairs, which lie side by side, are stored together.
inline void prepare_four_bf16(const PrepareArgs& a, int row) {
  const InputRow x[4] = {{a, row}, {a, row + 1}, {a, row + 2}, {a, row + 3}};
  const int64_t stride = int64_t{a.rows} * 4;
  std::byte* at = a.tile + row * 4;
  for (int64_t i = 0; i < a.k; i += F32::kLanes, at += 8 * stride) {
    const int n = lanes_at(i, a.k);
    __m256i r[4];
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      __builtin_prefetch(a.x + (row + 4 + j) * a.x_stride + i);
      r[j] = round_to_bf16(x[j].at(i, n));
    }
    const __m256i low01 = _mm256_unpacklo_epi32(r[0], r[1]), low23 = _mm256_unpacklo_epi32(r[2], r[3]);
    const __m256i high01 = _mm256_unpackhi_epi32(r[0], r[1]), high23 = _mm256_unpackhi_epi32(r[2], r[3]);
    const __m256i columns[4] = {_mm256_unpacklo_epi64(low01, low23), _mm256_unpackhi_epi64(low01, low23),  // of pairs j and j + 4
                                _mm256_unpacklo_epi64(high01, high23), _mm256_unpackhi_epi64(high01, high23)};
    const int pairs = (n + 1) / 2;
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      if (j < pairs) store_pairs(at + j * stride, _mm256_castsi256_si128(columns[j]));
      if (j + 4 < pairs) store_pairs(at + (j + 4) * stride, _mm256_extracti128_si256(columns[j], 1));
    }
  }
}

inline void prepare_bf16(const PrepareArgs& a) {
  const int64_t stride = int64_t{a.rows} * 4;
  int row = 0;
  for (; row + 4 <= a.rows; row += 4) prepare_four_bf16(a, row);
  for (; row < a.rows; ++row) {
    const InputRow x(a, row);
    std::byte* at = a.tile + row * 4;
    for (int64_t i = 0; i < a.k; i += F32::kLanes) {
      const int n = lanes_at(i, a.k);
      alignas(32) uint32_t pairs[F32::kLanes / 2];
      _mm256_store_si256(reinterpret_cast<__m256i*>(pairs), round_to_bf16(x.at(i, n)));
      for (int j = 0; 2 * j < n; ++j, at += stride) std::memcpy(at, &pairs[j], 4);
    }
  }
}
