// The kernels for AVX-512 with VNNI and BF16.
#include "cpu_linear/kernels.h"
#include "device/cpu/simd.h"

#if defined(__x86_64__)
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c,bmi2,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx512bf16")
namespace headrace::avx512bf16 {
#include "device/cpu/simd_avx512.inl.h"
#include "device/cpu/simd_math.inl.h"
// clang-format off
#include "cpu_linear/lanes_avx512.inl.h"
inline constexpr bool kHasBf16Dot = true;
// s + w . x for pairs of bfloat16.
inline Lanes dot_bf16(Lanes s, Quads w, Quads x) { return {_mm512_dpbf16_ps(s.v, __m512bh(w.v), __m512bh(x.v))}; }
#include "cpu_linear/tile.inl.h"
#include "cpu_linear/rows.inl.h"
#include "cpu_linear/bf16_rows_avx512.inl.h"
// clang-format on

// 32 registers: 24 sums of floats, or 16 of integers with as many of floats (spilled between blocks).
constexpr int largest_tile(PanelKind kind) { return format_of(kind).bits > 0 ? 8 : 12; }
constexpr bool pairs_up(PanelKind, int) { return true; }

#include "cpu_linear/table.inl.h"
}  // namespace headrace::avx512bf16
#pragma GCC pop_options
#endif
