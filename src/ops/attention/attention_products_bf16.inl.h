// Products of attention in pairs of bfloat16, summed in fp32: attention_products_f32.inl.h says what is what. Query, weights and a
// bf16 cache as they are; needs AVX-512 BF16. Subnormal numbers count as 0.
struct Bf16Pair {
  uint32_t bits;
};
struct Bf16Pairs {
  __m512i v;
};
inline Bf16Pairs load(const Bf16Pair* p) { return {_mm512_loadu_si512(p)}; }
inline Bf16Pairs broadcast(Bf16Pair x) { return {_mm512_set1_epi32(int(x.bits))}; }
inline void store(Bf16Pair* p, Bf16Pairs x) { _mm512_storeu_si512(p, x.v); }
inline void transpose(Bf16Pairs (&x)[16]) {
  F32 lanes[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) lanes[i].v = _mm512_castsi512_ps(x[i].v);
  transpose(lanes);
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) x[i].v = _mm512_castps_si512(lanes[i].v);
}

struct Bf16Products {
  using Element = Bf16Pair;
  using Vector = Bf16Pairs;
  static constexpr int kDepth = 2;

  static F32 multiply_add(Bf16Pairs a, Bf16Pairs b, F32 sum) { return {_mm512_dpbf16_ps(sum.v, __m512bh(a.v), __m512bh(b.v))}; }
  // 2^n 2^r with |r| <= 1/2 and a cubic for 2^r, fitted to the relative error at Chebyshev's nodes: off by 1.2e-4 at most, a twentieth of
  // what rounding to bfloat16 takes. 0 below -110.
  static F32 exp_of_score(F32 x) {
    const F32 y = max(broadcast(-160.0f), x * broadcast(1.44269504f)), n = round(y), r = y - n;
    F32 p = fma(broadcast(5.50886838e-02f), r, broadcast(2.42604051e-01f));
    p = fma(p, r, broadcast(6.93276242e-01f));
    return {_mm512_scalef_ps(fma(p, r, broadcast(9.99928940e-01f)).v, n.v)};
  }
  static Bf16Pairs load_dims(const std::byte* row, int d, int n) {
    return {_mm512_maskz_loadu_epi16(n >= 32 ? ~__mmask32(0) : (__mmask32(1) << n) - 1, row + d * 2)};
  }
  static Bf16Pairs load_positions(const std::byte* const* rows, int d, int n) {
    const __mmask16 mask = n >= 16 ? __mmask16(0xffff) : first_lanes(n);
    const __m256i low = _mm256_maskz_loadu_epi16(mask, rows[0] + d * 2), high = _mm256_maskz_loadu_epi16(mask, rows[1] + d * 2);
    return {_mm512_or_si512(_mm512_cvtepu16_epi32(low), _mm512_slli_epi32(_mm512_cvtepu16_epi32(high), 16))};
  }
  static Bf16Pairs only(Bf16Pairs x, int begin, int end) {
    return {_mm512_and_si512(x.v, _mm512_set1_epi32(int((begin == 0 ? 0xffffu : 0u) | (end == 2 ? 0xffff0000u : 0u))))};
  }
  static void store_numbers(Bf16Pair* p, int first, F32 x) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p + first / 2), __m256i(_mm512_cvtneps_pbh(x.v)));
  }
  static void prefetch(const std::byte* row, int d) {
    if (d % 32 == 0) __builtin_prefetch(row + d * 2);
  }
};
