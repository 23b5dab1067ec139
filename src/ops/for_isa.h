// Picks among the copies of a function that ops/each_isa.inl.h made.
#pragma once

#include "device/cpu/cpu_device.h"
#include "ops/kernel.h"

namespace headrace {

inline CpuIsa cpu_isa(const KernelRequest& request) { return static_cast<const CpuDevice&>(request.device).isa(); }

template <typename Function>
Function for_isa(CpuIsa isa, Function baseline, Function avx2, Function avx512vnni) {
  return isa == CpuIsa::kBaseline ? baseline : isa == CpuIsa::kAvx2 ? avx2 : avx512vnni;
}

}  // namespace headrace
