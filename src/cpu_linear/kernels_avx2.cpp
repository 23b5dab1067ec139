// The kernels for AVX2, FMA and F16C.
#include "cpu_linear/kernels.h"
#include "device/cpu/simd.h"

#if defined(__x86_64__)
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c,bmi2")
namespace headrace::avx2 {
#include "device/cpu/simd_avx2.inl.h"
#include "device/cpu/simd_math.inl.h"
// clang-format off
#include "cpu_linear/lanes_avx2.inl.h"
#include "cpu_linear/tile.inl.h"
#include "cpu_linear/rows.inl.h"
// clang-format on

// 16 registers, two to a vector of lanes.
constexpr int largest_tile(PanelKind kind) { return format_of(kind).bits > 0 ? 4 : 6; }
constexpr bool pairs_up(PanelKind, int rows) { return rows == 1; }

#include "cpu_linear/table.inl.h"
}  // namespace headrace::avx2
#pragma GCC pop_options
#endif
