// 8 floats in an AVX2 register. Included inside a namespace: see simd.h.

struct F32 {
  static constexpr int kLanes = 8;
  __m256 v;
};
struct Mask {
  __m256 v;
};

inline __m256i first_lanes(int n) { return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)); }

inline F32 zero() { return {_mm256_setzero_ps()}; }
inline F32 broadcast(float f) { return {_mm256_set1_ps(f)}; }

// AVX2 has no masked 16-bit loads: through memory, byte by byte.
inline __m128i load_16bit(const void* p, int n) {
  alignas(16) uint16_t copy[8] = {};
  std::memcpy(copy, p, size_t(n) * 2);
  return _mm_load_si128(reinterpret_cast<const __m128i*>(copy));
}
inline void store_16bit(void* p, __m128i bits, int n) {
  alignas(16) uint16_t copy[8];
  _mm_store_si128(reinterpret_cast<__m128i*>(copy), bits);
  std::memcpy(p, copy, size_t(n) * 2);
}

inline F32 load(const float* p) { return {_mm256_loadu_ps(p)}; }
inline F32 load(const float* p, int n) { return {_mm256_maskload_ps(p, first_lanes(n))}; }
inline F32 load(const Half* p) { return {_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)))}; }
inline F32 load(const Half* p, int n) { return n == F32::kLanes ? load(p) : F32{_mm256_cvtph_ps(load_16bit(p, n))}; }
inline F32 bf16_to_f32(__m128i bits) { return {_mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16))}; }
inline F32 load(const BFloat16* p) { return bf16_to_f32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))); }
inline F32 load(const BFloat16* p, int n) { return n == F32::kLanes ? load(p) : bf16_to_f32(load_16bit(p, n)); }

inline __m128i f32_to_f16(F32 x) { return _mm256_cvtps_ph(x.v, _MM_FROUND_TO_NEAREST_INT); }
inline __m128i f32_to_bf16(F32 x) {
  const __m256i bits = _mm256_castps_si256(x.v);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i rounded = _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd);
  const __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x400000));
  const __m256 nan = _mm256_cmp_ps(x.v, x.v, _CMP_UNORD_Q);
  const __m256i wide = _mm256_srli_epi32(_mm256_blendv_epi8(rounded, quiet, _mm256_castps_si256(nan)), 16);
  return _mm_packus_epi32(_mm256_castsi256_si128(wide), _mm256_extracti128_si256(wide, 1));
}
inline void store(float* p, F32 x) { _mm256_storeu_ps(p, x.v); }
// A masked store costs AMD's cores several times a plain one, even when all lanes are on.
inline void store(float* p, F32 x, int n) { n == F32::kLanes ? _mm256_storeu_ps(p, x.v) : _mm256_maskstore_ps(p, first_lanes(n), x.v); }
inline void stream(float* p, F32 x) { _mm256_stream_ps(p, x.v); }
inline void store(Half* p, F32 x) { _mm_storeu_si128(reinterpret_cast<__m128i*>(p), f32_to_f16(x)); }
inline void store(Half* p, F32 x, int n) { n == F32::kLanes ? store(p, x) : store_16bit(p, f32_to_f16(x), n); }
inline void store(BFloat16* p, F32 x) { _mm_storeu_si128(reinterpret_cast<__m128i*>(p), f32_to_bf16(x)); }
inline void store(BFloat16* p, F32 x, int n) { n == F32::kLanes ? store(p, x) : store_16bit(p, f32_to_bf16(x), n); }

inline F32 operator+(F32 a, F32 b) { return {_mm256_add_ps(a.v, b.v)}; }
inline F32 operator-(F32 a, F32 b) { return {_mm256_sub_ps(a.v, b.v)}; }
inline F32 operator*(F32 a, F32 b) { return {_mm256_mul_ps(a.v, b.v)}; }
inline F32 operator/(F32 a, F32 b) { return {_mm256_div_ps(a.v, b.v)}; }
inline F32 operator-(F32 a) { return {_mm256_xor_ps(a.v, _mm256_set1_ps(-0.0f))}; }
inline F32 fma(F32 a, F32 b, F32 c) { return {_mm256_fmadd_ps(a.v, b.v, c.v)}; }
inline F32 max(F32 a, F32 b) { return {_mm256_max_ps(a.v, b.v)}; }
inline F32 min(F32 a, F32 b) { return {_mm256_min_ps(a.v, b.v)}; }
inline F32 abs(F32 a) { return {_mm256_andnot_ps(_mm256_set1_ps(-0.0f), a.v)}; }
inline F32 sqrt(F32 a) { return {_mm256_sqrt_ps(a.v)}; }
inline F32 round(F32 a) { return {_mm256_round_ps(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)}; }
inline Mask less(F32 a, F32 b) { return {_mm256_cmp_ps(a.v, b.v, _CMP_LT_OQ)}; }
inline F32 select(Mask m, F32 a, F32 b) { return {_mm256_blendv_ps(b.v, a.v, m.v)}; }
inline F32 exp2_int(F32 n) {
  return {_mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n.v), _mm256_set1_epi32(127)), 23))};
}

// n floats (at most kLanes / 2), each in two neighbouring lanes.
inline F32 load_twice(const float* p, int n) { return {_mm256_permutevar8x32_ps(load(p, n).v, _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3))}; }
// Pairs of lanes (a, b) to (-b, a).
inline F32 quarter_turn(F32 x) {
  return {_mm256_xor_ps(_mm256_permute_ps(x.v, 0xb1), _mm256_castsi256_ps(_mm256_set1_epi64x(0x80000000)))};
}

inline void transpose(F32 (&x)[8]) {
  __m256 pairs[8], fours[8];  // fours[4 i + c], half b: column 4 b + c of rows 4 i to 4 i + 3
#pragma GCC unroll 4
  for (int i = 0; i < 8; i += 2) {
    pairs[i] = _mm256_unpacklo_ps(x[i].v, x[i + 1].v);
    pairs[i + 1] = _mm256_unpackhi_ps(x[i].v, x[i + 1].v);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 8; i += 2) {
    const int first = i / 4 * 4 + i / 2 % 2;
    const __m256d a = _mm256_castps_pd(pairs[first]), b = _mm256_castps_pd(pairs[first + 2]);
    fours[i] = _mm256_castpd_ps(_mm256_unpacklo_pd(a, b));
    fours[i + 1] = _mm256_castpd_ps(_mm256_unpackhi_pd(a, b));
  }
#pragma GCC unroll 4
  for (int c = 0; c < 4; ++c) {
    x[c].v = _mm256_permute2f128_ps(fours[c], fours[c + 4], 0x20);
    x[c + 4].v = _mm256_permute2f128_ps(fours[c], fours[c + 4], 0x31);
  }
}

inline float reduce_add(F32 x) {
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(x.v), _mm256_extractf128_ps(x.v, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
}
inline float reduce_max(F32 x) {
  const __m128 four = _mm_max_ps(_mm256_castps256_ps128(x.v), _mm256_extractf128_ps(x.v, 1));
  const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_shuffle_ps(two, two, 1)));
}
