#include <algorithm>
#include <cstring>

#include "smooth_quant.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define HAS_X86_TARGETS 1
#define FOR_EACH_X86 __attribute__((target_clones("arch=skylake-avx512", "avx2", "default")))
#else
#define FOR_EACH_X86
#endif

namespace {

// Four columns of one row. Compiled several times; the processor decides which one runs.
FOR_EACH_X86 void four_dots(const int8_t* x, const int8_t* w, int64_t k, int32_t* to) {
  int32_t a = 0, b = 0, c = 0, d = 0;
  for (int64_t i = 0; i < k; ++i) {
    a += int32_t{x[i]} * w[i], b += int32_t{x[i]} * w[k + i];
    c += int32_t{x[i]} * w[2 * k + i], d += int32_t{x[i]} * w[3 * k + i];
  }
  to[0] = a, to[1] = b, to[2] = c, to[3] = d;
}

FOR_EACH_X86 int32_t dot(const int8_t* x, const int8_t* w, int64_t k) {
  int32_t sum = 0;
  for (int64_t i = 0; i < k; ++i) sum += int32_t{x[i]} * w[i];
  return sum;
}

}  // namespace

// The weights of four columns stay in the first cache while every row passes.
void gemm_by_dots(const GemmParams& p, int64_t begin, int64_t end) {
  for (int64_t first = begin; first < end; first += 4) {
    const int64_t columns = std::min<int64_t>(4, end - first);
    for (int64_t i = 0; i < p.m; ++i) {
      const int8_t *x = p.x + i * p.k, *w = p.w + first * p.k;
      int32_t sums[4];
      if (columns == 4) four_dots(x, w, p.k, sums);
      for (int64_t j = 0; j < columns; ++j)
        p.y[i * p.n + first + j] =
            float(columns == 4 ? sums[j] : dot(x, w + j * p.k, p.k)) * (p.scale_of_row(i) * p.scale_of_column(first + j));
    }
  }
}

void pack_panels(const int8_t* w, int64_t n, int64_t k, uint8_t* packed) {
  for (int64_t panel = 0; panel < num_panels(n); ++panel)
    for (int64_t group = 0; group < k / 4; ++group)
      for (int64_t j = panel * kPanel; j < (panel + 1) * kPanel; ++j)
        for (int64_t i = group * 4; i < group * 4 + 4; ++i) *packed++ = j < n ? uint8_t(w[j * k + i] + 128) : 128;
}

#ifdef HAS_X86_TARGETS

bool has_vnni() { return __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw"); }

namespace {

// R rows by 32 columns, all sums in registers. The instruction multiplies unsigned by signed bytes: weights carry + 128, which
// 128 * sum(x) takes away again; int32 wraps around, so nothing is lost.
template <int R>
__attribute__((target("avx512vnni,avx512bw,avx512f"))) void tile(const GemmParams& p, const uint8_t* w, const int32_t* row_sums,
                                                                 int64_t row, int64_t column) {
  __m512i sums[R][2];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) sums[r][0] = sums[r][1] = _mm512_setzero_si512();
  const int8_t* x = p.x + row * p.k;
  for (int64_t i = 0; i < p.k; i += 4, w += 128) {
    const __m512i w0 = _mm512_loadu_si512(w), w1 = _mm512_loadu_si512(w + 64);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      int32_t four;
      std::memcpy(&four, x + r * p.k + i, sizeof four);
      const __m512i x4 = _mm512_set1_epi32(four);
      sums[r][0] = _mm512_dpbusd_epi32(sums[r][0], w0, x4);
      sums[r][1] = _mm512_dpbusd_epi32(sums[r][1], w1, x4);
    }
  }
  const int64_t columns = std::min<int64_t>(kPanel, p.n - column);
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
    const __m512i offset = _mm512_set1_epi32(int32_t(uint32_t(row_sums[row + r]) * 128u));
    const __m512 x_scale = _mm512_set1_ps(p.scale_of_row(row + r));
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half) {
      const int64_t left = columns - 16 * half;
      if (left <= 0) continue;
      const __mmask16 mask = left >= 16 ? 0xffff : __mmask16((1u << left) - 1);
      const float* scales = p.w_scale + column + 16 * half;
      const __m512 w_scale = p.scale_per_column ? _mm512_maskz_loadu_ps(mask, scales) : _mm512_set1_ps(p.w_scale[0]);
      const __m512 y =
          _mm512_mul_ps(_mm512_maskz_cvtepi32_ps(mask, _mm512_sub_epi32(sums[r][half], offset)), _mm512_mul_ps(x_scale, w_scale));
      _mm512_mask_storeu_ps(p.y + (row + r) * p.n + column + 16 * half, mask, y);
    }
  }
}

}  // namespace

void gemm_by_panels(const GemmParams& p, const uint8_t* packed, const int32_t* row_sums, int64_t begin, int64_t end) {
  for (int64_t panel = begin; panel < end; ++panel) {
    const uint8_t* w = packed + panel * kPanel * p.k;
    const int64_t column = panel * kPanel;
    int64_t row = 0;
    for (; row + 8 <= p.m; row += 8) tile<8>(p, w, row_sums, row, column);
    if (row + 4 <= p.m) tile<4>(p, w, row_sums, row, column), row += 4;
    if (row + 2 <= p.m) tile<2>(p, w, row_sums, row, column), row += 2;
    if (row < p.m) tile<1>(p, w, row_sums, row, column);
  }
}

#else

bool has_vnni() { return false; }
void gemm_by_panels(const GemmParams&, const uint8_t*, const int32_t*, int64_t, int64_t) {}

#endif
