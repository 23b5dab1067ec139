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

inline constexpr int kMostSumsInPairs = 2;  // of Lanes, that leave registers for the rest

inline const float* floats(const std::byte* p) { return reinterpret_cast<const float*>(p); }
inline __m256i load_256(const std::byte* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }

inline Lanes load_lanes(const float* p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
inline void store_lanes(float* p, Lanes x) {
  _mm256_storeu_ps(p, x.a);
  _mm256_storeu_ps(p + 8, x.b);
}
inline Lanes load_f32_lanes(const std::byte* p) { return {_mm256_loadu_ps(floats(p)), _mm256_loadu_ps(floats(p) + 8)}; }
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
inline Lanes zero_lanes() { return {_mm256_setzero_ps(), _mm256_setzero_ps()}; }
inline Lanes add(Lanes x, Lanes y) { return {_mm256_add_ps(x.a, y.a), _mm256_add_ps(x.b, y.b)}; }
inline Lanes mul(Lanes x, Lanes y) { return {_mm256_mul_ps(x.a, y.a), _mm256_mul_ps(x.b, y.b)}; }
inline Lanes fma(Lanes x, Lanes y, Lanes z) { return {_mm256_fmadd_ps(x.a, y.a, z.a), _mm256_fmadd_ps(x.b, y.b, z.b)}; }
inline Lanes fma_minus(Lanes x, Lanes y, Lanes z) {
  return {_mm256_fnmadd_ps(x.a, y.a, z.a), _mm256_fnmadd_ps(x.b, y.b, z.b)};
}  // z - x * y

inline Quads load_quads(const std::byte* p) { return {load_256(p), load_256(p + 32)}; }
inline void store_quads(std::byte* p, Quads q) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), q.a);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p + 32), q.b);
}
// Bytes of q are indices into 16 bytes.
inline Quads look_up(Quads q, const uint8_t* table) {
  const __m256i t = _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table)));
  return {_mm256_shuffle_epi8(t, q.a), _mm256_shuffle_epi8(t, q.b)};
}
// Bytes of x and y in turn, from the low or high eight of each 16.
inline Quads interleave_low(Quads x, Quads y) { return {_mm256_unpacklo_epi8(x.a, y.a), _mm256_unpacklo_epi8(x.b, y.b)}; }
inline Quads interleave_high(Quads x, Quads y) { return {_mm256_unpackhi_epi8(x.a, y.a), _mm256_unpackhi_epi8(x.b, y.b)}; }
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
inline Quads look_up_iq4(Quads q) { return look_up(q, reinterpret_cast<const uint8_t*>(kIq4Values.data())); }
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
inline Sums shift_left(Sums s) {
  return {_mm256_slli_epi32(s.a, n), _mm256_slli_epi32(s.b, n)};
}
inline Lanes to_lanes(Sums s) { return {_mm256_cvtepi32_ps(s.a), _mm256_cvtepi32_ps(s.b)}; }

// Keeps sums in their registers: gcc 12 puts the additions of a whole block off, and the products on the stack.
inline void settle(Sums& s) { asm("" : "+x"(s.a), "+x"(s.b)); }

// Dot products, exact: add<q> is called once for each of a group's kQuads quads, in order. x: signed, not -128.
// vpmaddubsw adds two products of an unsigned and a signed byte in 16 bits, saturating. For weights of few bits several such sums
// fit 16 bits, and one vpmaddwd widens them all: eight of 4 bits (8 * 2 * 15 * 127 < 32768), four of 5 bits, two of 6 bits.
// Weights of 8 bits are taken as signed: |w| * (x with w's sign) is at most 2 * 128 * 127 < 32768.
inline constexpr bool kEightBitsAreSigned = true;
inline Quads load_eight_bits(const std::byte* p) {
  const __m256i sign = _mm256_set1_epi8(-128);
  return {_mm256_xor_si256(load_256(p), sign), _mm256_xor_si256(load_256(p + 32), sign)};
}
template <int kBits, int kQuads>
struct IntegerDots {
  // vpmaddubsw that fit 16 bits, or are all there are.
  static constexpr int kFit = kBits == 8 ? 1 : (128 >> kBits < kQuads ? 128 >> kBits : kQuads);
  Sums sums;
  __m256i a, b;  // 16-bit sums on their way
  template <int q>
  void add(Quads w, Quads x) {
    __m256i xa = x.a, xb = x.b;
    if constexpr (kBits == 8) {
      xa = _mm256_sign_epi8(xa, w.a);
      xb = _mm256_sign_epi8(xb, w.b);
      w = {_mm256_abs_epi8(w.a), _mm256_abs_epi8(w.b)};
    }
    a = q % kFit == 0 ? _mm256_maddubs_epi16(w.a, xa) : _mm256_add_epi16(a, _mm256_maddubs_epi16(w.a, xa));
    b = q % kFit == 0 ? _mm256_maddubs_epi16(w.b, xb) : _mm256_add_epi16(b, _mm256_maddubs_epi16(w.b, xb));
    if constexpr (q % kFit == kFit - 1) {
      const __m256i ones = _mm256_set1_epi16(1);
      sums = {_mm256_add_epi32(sums.a, _mm256_madd_epi16(a, ones)), _mm256_add_epi32(sums.b, _mm256_madd_epi16(b, ones))};
      settle(sums);
    }
  }
};

// Unsigned bytes in 16 bits take no sign apart: half the work of the ports that multiply.
inline constexpr bool kHasWordDots = true;
template <int kQuads>
struct IntegerDots<16, kQuads> {
  struct Words {  // numbers 0 and 2, and 1 and 3, of each quad
    Quads even, odd;
  };
  static Words widen(Quads q) {
    const __m256i low = _mm256_set1_epi16(0xff);
    return {{_mm256_and_si256(q.a, low), _mm256_and_si256(q.b, low)}, {_mm256_srli_epi16(q.a, 8), _mm256_srli_epi16(q.b, 8)}};
  }
  static Words broadcast(const std::byte* p) { return {broadcast_quad(p), broadcast_quad(p + 4)}; }

  Sums sums;
  void add(Words w, Words x) {
    sums.a = _mm256_add_epi32(sums.a, _mm256_madd_epi16(w.even.a, x.even.a));
    sums.b = _mm256_add_epi32(sums.b, _mm256_madd_epi16(w.even.b, x.even.b));
    sums.a = _mm256_add_epi32(sums.a, _mm256_madd_epi16(w.odd.a, x.odd.a));
    sums.b = _mm256_add_epi32(sums.b, _mm256_madd_epi16(w.odd.b, x.odd.b));
    settle(sums);
  }
};

inline void store_i8(std::byte* p, F32 x) {
  const __m256i wide = _mm256_cvtps_epi32(x.v);
  const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(wide), _mm256_extracti128_si256(wide, 1));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_packs_epi16(words, words));
}

inline constexpr bool kHasBf16Dot = false;
inline constexpr void (*prepare_bf16)(const PrepareArgs&) = nullptr;
