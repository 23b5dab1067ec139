// Which of the copies that ops/each_isa.inl.h made a kernel is to use.
#pragma once

#include "device/cpu/cpu_device.h"
#include "device/cpu/for_isa.h"
#include "ops/kernel.h"

namespace headrace {

inline CpuIsa cpu_isa(const KernelRequest& request) { return static_cast<const CpuDevice&>(request.device).isa(); }

}  // namespace headrace
