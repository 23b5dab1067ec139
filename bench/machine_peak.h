// What the machine can do at most, measured: reading memory, and multiply-adds of the kind that a weight type uses.
#pragma once

#include "core/thread_pool.h"
#include "device/cpu/cpu_features.h"
#include "headrace/types.h"

namespace headrace {

struct MachinePeak {
  double read_gb_per_s;  // 512 MiB, each thread its own part, best of several
  double gmac_per_s;     // int8 dot products, bfloat16 dot products or fp32 FMA, from registers
};

MachinePeak measure_peak(ThreadPool& pool, CpuIsa isa, DType weights);

}  // namespace headrace
