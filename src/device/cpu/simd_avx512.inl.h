// 16 floats in an AVX-512 register. Included inside a namespace: see simd.h.

struct F32 {
  static constexpr int kLanes = 16;
  __m512 v;
};
struct Mask {
  __mmask16 v;
};

inline __mmask16 first_lanes(int n) { return __mmask16((1u << n) - 1u); }

inline F32 zero() { return {_mm512_setzero_ps()}; }
inline F32 broadcast(float f) { return {_mm512_set1_ps(f)}; }

inline F32 load(const float* p) { return {_mm512_loadu_ps(p)}; }
inline F32 load(const float* p, int n) { return {_mm512_maskz_loadu_ps(first_lanes(n), p)}; }
inline F32 load(const Half* p) { return {_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)))}; }
inline F32 load(const Half* p, int n) { return {_mm512_cvtph_ps(_mm256_maskz_loadu_epi16(first_lanes(n), p))}; }
inline F32 bf16_to_f32(__m256i bits) { return {_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16))}; }
inline F32 load(const BFloat16* p) { return bf16_to_f32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))); }
inline F32 load(const BFloat16* p, int n) { return bf16_to_f32(_mm256_maskz_loadu_epi16(first_lanes(n), p)); }

inline __m256i f32_to_f16(F32 x) { return _mm512_cvtps_ph(x.v, _MM_FROUND_TO_NEAREST_INT); }
// Not vcvtneps2bf16, which flushes denormals.
inline __m256i f32_to_bf16(F32 x) {
  const __m512i bits = _mm512_castps_si512(x.v);
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  const __m512i rounded = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), odd);
  const __m512i quiet = _mm512_or_si512(bits, _mm512_set1_epi32(0x400000));
  const __mmask16 nan = _mm512_cmp_ps_mask(x.v, x.v, _CMP_UNORD_Q);
  return _mm512_cvtepi32_epi16(_mm512_srli_epi32(_mm512_mask_mov_epi32(rounded, nan, quiet), 16));
}
inline void store(float* p, F32 x) { _mm512_storeu_ps(p, x.v); }
// A masked store costs AMD's cores several times a plain one, even when all lanes are on.
inline void store(float* p, F32 x, int n) { n == F32::kLanes ? _mm512_storeu_ps(p, x.v) : _mm512_mask_storeu_ps(p, first_lanes(n), x.v); }
inline void stream(float* p, F32 x) { _mm512_stream_ps(p, x.v); }
inline void store(Half* p, F32 x) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), f32_to_f16(x)); }
inline void store(Half* p, F32 x, int n) { n == F32::kLanes ? store(p, x) : _mm256_mask_storeu_epi16(p, first_lanes(n), f32_to_f16(x)); }
inline void store(BFloat16* p, F32 x) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), f32_to_bf16(x)); }
inline void store(BFloat16* p, F32 x, int n) {
  n == F32::kLanes ? store(p, x) : _mm256_mask_storeu_epi16(p, first_lanes(n), f32_to_bf16(x));
}

inline F32 operator+(F32 a, F32 b) { return {_mm512_add_ps(a.v, b.v)}; }
inline F32 operator-(F32 a, F32 b) { return {_mm512_sub_ps(a.v, b.v)}; }
inline F32 operator*(F32 a, F32 b) { return {_mm512_mul_ps(a.v, b.v)}; }
inline F32 operator/(F32 a, F32 b) { return {_mm512_div_ps(a.v, b.v)}; }
inline F32 operator-(F32 a) { return {_mm512_xor_ps(a.v, _mm512_set1_ps(-0.0f))}; }
inline F32 fma(F32 a, F32 b, F32 c) { return {_mm512_fmadd_ps(a.v, b.v, c.v)}; }
inline F32 max(F32 a, F32 b) { return {_mm512_max_ps(a.v, b.v)}; }
inline F32 min(F32 a, F32 b) { return {_mm512_min_ps(a.v, b.v)}; }
inline F32 abs(F32 a) { return {_mm512_abs_ps(a.v)}; }
inline F32 sqrt(F32 a) { return {_mm512_sqrt_ps(a.v)}; }
inline F32 round(F32 a) { return {_mm512_roundscale_ps(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)}; }
inline Mask less(F32 a, F32 b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ)}; }
inline F32 select(Mask m, F32 a, F32 b) { return {_mm512_mask_mov_ps(b.v, m.v, a.v)}; }
inline F32 exp2_int(F32 n) {
  return {_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_add_epi32(_mm512_cvtps_epi32(n.v), _mm512_set1_epi32(127)), 23))};
}

// n floats (at most kLanes / 2), each in two neighbouring lanes.
inline F32 load_twice(const float* p, int n) {
  const __m512i twice = _mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
  return {_mm512_permutexvar_ps(twice, _mm512_maskz_loadu_ps(first_lanes(n), p))};
}
// Pairs of lanes (a, b) to (-b, a).
inline F32 quarter_turn(F32 x) {
  return {_mm512_castsi512_ps(_mm512_xor_si512(_mm512_castps_si512(_mm512_permute_ps(x.v, 0xb1)), _mm512_set1_epi64(0x80000000)))};
}

inline void transpose(F32 (&x)[16]) {
  __m512 pairs[16], fours[16];  // fours[4 i + c], 128-bit lane b: column 4 b + c of rows 4 i to 4 i + 3
#pragma GCC unroll 8
  for (int i = 0; i < 16; i += 2) {
    pairs[i] = _mm512_unpacklo_ps(x[i].v, x[i + 1].v);
    pairs[i + 1] = _mm512_unpackhi_ps(x[i].v, x[i + 1].v);
  }
#pragma GCC unroll 8
  for (int i = 0; i < 16; i += 2) {
    const int first = i / 4 * 4 + i / 2 % 2;
    const __m512d a = _mm512_castps_pd(pairs[first]), b = _mm512_castps_pd(pairs[first + 2]);
    fours[i] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, b));
    fours[i + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, b));
  }
#pragma GCC unroll 4
  for (int c = 0; c < 4; ++c) {
    const __m512 even_top = _mm512_shuffle_f32x4(fours[c], fours[c + 4], 0x88),
                 even_bottom = _mm512_shuffle_f32x4(fours[c + 8], fours[c + 12], 0x88);
    const __m512 odd_top = _mm512_shuffle_f32x4(fours[c], fours[c + 4], 0xdd),
                 odd_bottom = _mm512_shuffle_f32x4(fours[c + 8], fours[c + 12], 0xdd);
    x[c].v = _mm512_shuffle_f32x4(even_top, even_bottom, 0x88);
    x[c + 4].v = _mm512_shuffle_f32x4(odd_top, odd_bottom, 0x88);
    x[c + 8].v = _mm512_shuffle_f32x4(even_top, even_bottom, 0xdd);
    x[c + 12].v = _mm512_shuffle_f32x4(odd_top, odd_bottom, 0xdd);
  }
}

inline float reduce_add(F32 x) { return _mm512_reduce_add_ps(x.v); }
inline float reduce_max(F32 x) { return _mm512_reduce_max_ps(x.v); }
