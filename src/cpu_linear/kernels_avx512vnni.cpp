// The kernels for AVX-512 with VNNI.
#include "cpu_linear/kernels.h"
#include "device/cpu/simd.h"

#if defined(__x86_64__)
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c,bmi2,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")
namespace headrace::avx512vnni {
#include "device/cpu/simd_avx512.inl.h"
#include "device/cpu/simd_math.inl.h"
// clang-format off
#include "cpu_linear/lanes_avx512.inl.h"
inline constexpr bool kHasBf16Dot = false;
inline constexpr void (*prepare_bf16)(const PrepareArgs&) = nullptr;
#include "cpu_linear/tile.inl.h"
#include "cpu_linear/rows.inl.h"
// clang-format on

// 32 registers: 24 sums of floats, or 16 of integers with as many of floats (spilled between blocks).
constexpr int largest_tile(PanelKind kind) { return format_of(kind).bits > 0 ? 8 : 12; }
constexpr bool pairs_up(PanelKind, int) { return true; }

#include "cpu_linear/table.inl.h"
}  // namespace headrace::avx512vnni
#pragma GCC pop_options
#endif
