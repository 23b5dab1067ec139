// The kernels in portable C++: slow, and the meaning of the others.
#include "cpu_linear/kernels.h"
#include "device/cpu/simd.h"

namespace headrace::baseline {
#include "device/cpu/simd_baseline.inl.h"
#include "device/cpu/simd_math.inl.h"
// clang-format off
#include "cpu_linear/lanes_baseline.inl.h"
#include "cpu_linear/tile.inl.h"
#include "cpu_linear/rows.inl.h"
// clang-format on

constexpr int largest_tile(PanelKind) { return 4; }
constexpr bool pairs_up(PanelKind, int) { return false; }

#include "cpu_linear/table.inl.h"
}  // namespace headrace::baseline
