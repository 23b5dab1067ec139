// A panel's 16 rows as lanes, in AVX-512 registers. Included inside a namespace, after simd_avx512.inl.h.

struct Lanes {
  __m512 v;
};
struct Sums {  // 16 int32
  __m512i v;
};
struct Quads {  // 16 lanes of 4 unsigned bytes
  __m512i v;
};

inline constexpr int kMostSumsInPairs = 12;  // of Lanes, that leave registers for the rest

inline const float* floats(const std::byte* p) { return reinterpret_cast<const float*>(p); }

inline Lanes load_lanes(const float* p) { return {_mm512_loadu_ps(p)}; }
inline void store_lanes(float* p, Lanes x) { _mm512_storeu_ps(p, x.v); }
inline Lanes load_f32_lanes(const std::byte* p) { return {_mm512_loadu_ps(p)}; }
inline Lanes load_f16_lanes(const std::byte* p) { return {_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)))}; }
inline Lanes even_bf16(Quads pairs) { return {_mm512_castsi512_ps(_mm512_slli_epi32(pairs.v, 16))}; }
inline Lanes odd_bf16(Quads pairs) { return {_mm512_castsi512_ps(_mm512_and_si512(pairs.v, _mm512_set1_epi32(int(0xffff0000u))))}; }
inline Lanes broadcast_lanes(const std::byte* p) { return {_mm512_set1_ps(*floats(p))}; }
inline Lanes zero_lanes() { return {_mm512_setzero_ps()}; }
inline Lanes add(Lanes a, Lanes b) { return {_mm512_add_ps(a.v, b.v)}; }
inline Lanes mul(Lanes a, Lanes b) { return {_mm512_mul_ps(a.v, b.v)}; }
inline Lanes fma(Lanes a, Lanes b, Lanes c) { return {_mm512_fmadd_ps(a.v, b.v, c.v)}; }
inline Lanes fma_minus(Lanes a, Lanes b, Lanes c) { return {_mm512_fnmadd_ps(a.v, b.v, c.v)}; }  // c - a * b

inline Quads load_quads(const std::byte* p) { return {_mm512_loadu_si512(p)}; }
inline void store_quads(std::byte* p, Quads q) { _mm512_storeu_si512(p, q.v); }
// Bytes of q are indices into 16 bytes.
inline Quads look_up(Quads q, const uint8_t* table) {
  return {_mm512_shuffle_epi8(_mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table))), q.v)};
}
// Bytes of a and b in turn, from the low or high eight of each 16.
inline Quads interleave_low(Quads a, Quads b) { return {_mm512_unpacklo_epi8(a.v, b.v)}; }
inline Quads interleave_high(Quads a, Quads b) { return {_mm512_unpackhi_epi8(a.v, b.v)}; }
inline Quads broadcast_quad(const std::byte* p) {
  int bits;
  std::memcpy(&bits, p, 4);
  return {_mm512_set1_epi32(bits)};
}
inline Quads low_halves(Quads q) { return {_mm512_and_si512(q.v, _mm512_set1_epi8(15))}; }
inline Quads high_halves(Quads q) { return {_mm512_and_si512(_mm512_srli_epi16(q.v, 4), _mm512_set1_epi8(15))}; }
inline Quads look_up_iq4(Quads q) {
  return {_mm512_xor_si512(look_up(q, reinterpret_cast<const uint8_t*>(kIq4Values.data())).v, _mm512_set1_epi8(-128))};
}
// Sets bit 4 of the bytes whose bit in the mask is set.
inline Quads with_fifth_bits(Quads q, const std::byte* mask) {
  uint64_t bits;
  std::memcpy(&bits, mask, 8);
  return {_mm512_mask_add_epi8(q.v, bits, q.v, _mm512_set1_epi8(16))};
}
// Puts bits 2s, 2s + 1 of `pairs` above the low four.
template <int s>
inline Quads with_upper_pair(Quads q, Quads pairs) {
  const __m512i shifted = s < 2 ? _mm512_slli_epi16(pairs.v, 4 - 2 * s) : _mm512_srli_epi16(pairs.v, 2 * s - 4);
  return {_mm512_ternarylogic_epi32(q.v, shifted, _mm512_set1_epi8(0x30), 0xf8)};  // q | (shifted & 0x30)
}

inline Sums no_sums() { return {_mm512_setzero_si512()}; }
inline Sums broadcast_sum(const std::byte* p) { return {broadcast_quad(p).v}; }
inline Sums add(Sums a, Sums b) { return {_mm512_add_epi32(a.v, b.v)}; }
template <int n>
inline Sums shift_left(Sums s) {
  return {_mm512_slli_epi32(s.v, n)};
}
inline Lanes to_lanes(Sums s) { return {_mm512_cvtepi32_ps(s.v)}; }

// Dot products, exact: add<q> is called once for each of a group's kQuads quads, in order. w: unsigned, below 1 << kBits; x: signed, not
// -128.
inline constexpr bool kHasWordDots = false;
inline constexpr bool kEightBitsAreSigned = false;
inline Quads load_eight_bits(const std::byte* p) { return load_quads(p); }
template <int kBits, int kQuads>
struct IntegerDots {
  Sums sums;
  template <int q>
  void add(Quads w, Quads x) {
    sums.v = _mm512_dpbusd_epi32(sums.v, w.v, x.v);
  }
};

inline void store_i8(std::byte* p, F32 x) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtsepi32_epi8(_mm512_cvtps_epi32(x.v)));
}
