// Picks among the copies of a function, or of anything else, that device/cpu/each_isa.inl.h made.
#pragma once

#include "device/cpu/cpu_features.h"

namespace headrace {

template <typename Copy>
Copy for_isa(CpuIsa isa, Copy baseline, Copy avx2, Copy avx512vnni) {
  return isa == CpuIsa::kBaseline ? baseline : isa == CpuIsa::kAvx2 ? avx2 : avx512vnni;
}

}  // namespace headrace
