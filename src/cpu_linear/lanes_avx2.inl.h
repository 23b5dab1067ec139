// A panel's 16 rows as lanes, in pairs of AVX2 registers. Included inside a namespace, after simd_avx2.inl.h.

struct Lanes {
  __m256 a, b;
};
struct Sums {  // 16 int32
  __m256i a, b;
};
struct Quads {  // 16 lanes of 4 bytes
  __m256i a, b;
};

inline __m256i load_256(const std::byte* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }

inline Lanes load_lanes(const float* p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
inline void store_lanes(float* p, Lanes x) {
  _mm256_storeu_ps(p, x.a);
  _mm256_storeu_ps(p + 8, x.b);
}
inline Lanes load_f32_lanes(const std::byte* p) { return load_lanes(reinterpret_cast<const float*>(p)); }
inline Lanes load_f16_lanes(const std::byte* p) {
  const __m128i* h = reinterpret_cast<const __m128i*>(p);
  return {_mm256_cvtph_ps(_mm_loadu_si128(h)), _mm256_cvtph_ps(_mm_loadu_si128(h + 1))};
}
inline Lanes even_bf16(Quads q) {
  return {_mm256_castsi256_ps(_mm256_slli_epi32(q.a, 16)), _mm256_castsi256_ps(_mm256_slli_epi32(q.b, 16))};
}
inline Lanes odd_bf16(Quads q) {
  const __m256i upper = _mm256_set1_epi32(int(0xffff0000u));
  return {_mm256_castsi256_ps(_mm256_and_si256(q.a, upper)), _mm256_castsi256_ps(_mm256_and_si256(q.b, upper))};
}
inline Lanes broadcast_lanes(const std::byte* p) {
  const __m256 x = _mm256_broadcast_ss(reinterpret_cast<const float*>(p));
  return {x, x};
}
inline Lanes mul(Lanes x, Lanes y) { return {_mm256_mul_ps(x.a, y.a), _mm256_mul_ps(x.b, y.b)}; }
inline Lanes fma(Lanes x, Lanes y, Lanes z) { return {_mm256_fmadd_ps(x.a, y.a, z.a), _mm256_fmadd_ps(x.b, y.b, z.b)}; }
inline Lanes fma_minus(Lanes x, Lanes y, Lanes z) { return {_mm256_fnmadd_ps(x.a, y.a, z.a), _mm256_fnmadd_ps(x.b, y.b, z.b)}; }  // z - x * y

inline Quads load_quads(const std::byte* p) { return {load_256(p), load_256(p + 32)}; }
inline Quads broadcast_quad(const std::byte* p) {
  int bits;
  std::memcpy(&bits, p, 4);
  const __m256i x = _mm256_set1_epi32(bits);
  return {x, x};
}
inline Quads low_halves(Quads q) {
  const __m256i mask = _mm256_set1_epi8(15);
  return {_mm256_and_si256(q.a, mask), _mm256_and_si256(q.b, mask)};
}
inline Quads high_halves(Quads q) { return low_halves({_mm256_srli_epi16(q.a, 4), _mm256_srli_epi16(q.b, 4)}); }
inline Quads look_up_iq4(Quads q) {
  const __m256i values = _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(kIq4Values.data())));
  return {_mm256_shuffle_epi8(values, q.a), _mm256_shuffle_epi8(values, q.b)};
}
// 32 bits to 32 bytes of 16 or 0.
inline __m256i spread_fifth_bits(const std::byte* p) {
  const __m256i where = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
  const __m256i bit = _mm256_set1_epi64x(int64_t(0x8040201008040201));
  const __m256i bytes = _mm256_shuffle_epi8(broadcast_quad(p).a, where);
  return _mm256_and_si256(_mm256_cmpeq_epi8(_mm256_and_si256(bytes, bit), bit), _mm256_set1_epi8(16));
}
inline Quads with_fifth_bits(Quads q, const std::byte* mask) {
  return {_mm256_or_si256(q.a, spread_fifth_bits(mask)), _mm256_or_si256(q.b, spread_fifth_bits(mask + 4))};
}
template <int s>
inline __m256i upper_pair(__m256i pairs) {
  return _mm256_and_si256(s < 2 ? _mm256_slli_epi16(pairs, 4 - 2 * s) : _mm256_srli_epi16(pairs, 2 * s - 4), _mm256_set1_epi8(0x30));
}
template <int s>
inline Quads with_upper_pair(Quads q, Quads pairs) {
  return {_mm256_or_si256(q.a, upper_pair<s>(pairs.a)), _mm256_or_si256(q.b, upper_pair<s>(pairs.b))};
}

inline Sums no_sums() { return {_mm256_setzero_si256(), _mm256_setzero_si256()}; }
inline Sums broadcast_sum(const std::byte* p) { return {broadcast_quad(p).a, broadcast_quad(p).b}; }
inline Sums add(Sums x, Sums y) { return {_mm256_add_epi32(x.a, y.a), _mm256_add_epi32(x.b, y.b)}; }
template <int n>
inline Sums shift_left(Sums s) { return {_mm256_slli_epi32(s.a, n), _mm256_slli_epi32(s.b, n)}; }
inline Lanes to_lanes(Sums s) { return {_mm256_cvtepi32_ps(s.a), _mm256_cvtepi32_ps(s.b)}; }

// vpmaddubsw adds two products of an unsigned and a signed byte in 16 bits, saturating. Weights of up to 6 bits cannot saturate
// (63 * 127 * 2 < 32768). Those of 8 bits are taken as signed: |w| * (x with w's sign) is at most 128 * 127 * 2 = 32512.
inline constexpr bool kEightBitsAreSigned = true;
inline Quads load_eight_bits(const std::byte* p) {
  const __m256i sign = _mm256_set1_epi8(-128);
  return {_mm256_xor_si256(load_256(p), sign), _mm256_xor_si256(load_256(p + 32), sign)};
}
inline __m256i pair_sums(__m256i w, __m256i x) { return _mm256_madd_epi16(_mm256_maddubs_epi16(w, x), _mm256_set1_epi16(1)); }
template <int kBits>
inline Sums dot(Sums s, Quads w, Quads x) {
  if constexpr (kBits == 8) {
    return {_mm256_add_epi32(s.a, pair_sums(_mm256_abs_epi8(w.a), _mm256_sign_epi8(x.a, w.a))),
            _mm256_add_epi32(s.b, pair_sums(_mm256_abs_epi8(w.b), _mm256_sign_epi8(x.b, w.b)))};
  } else {
    return {_mm256_add_epi32(s.a, pair_sums(w.a, x.a)), _mm256_add_epi32(s.b, pair_sums(w.b, x.b))};
  }
}
inline void store_i8(std::byte* p, F32 x) {
  const __m256i wide = _mm256_cvtps_epi32(x.v);
  const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(wide), _mm256_extracti128_si256(wide, 1));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_packs_epi16(words, words));
}

inline constexpr bool kHasBf16Dot = false;
