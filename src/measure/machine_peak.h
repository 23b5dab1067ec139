// What the machine can do at most, measured: reading memory, and multiply-adds of the kind that a weight type uses.
#pragma once

#include "core/thread_pool.h"
#include "device/cpu/cpu_features.h"
#include "headrace/types.h"

namespace headrace {

struct MachinePeak {
  double read_gb_per_s;  // each thread its own part, best of several
  double gmac_per_s;     // int8 dot products, bfloat16 dot products or fp32 FMA, from registers
};

// The two parts of it. A read test of a quarter of the bytes and fewer rounds is as good where a rough figure will do.
struct ReadTest {
  int64_t bytes = int64_t{512} << 20;
  int rounds = 8;
};
double measure_read_gb_per_s(ThreadPool& pool, const ReadTest& test = {});
// Copying, read and written bytes together: each thread its own part, by memcpy, best of `rounds` and of what it is asked for again.
class CopyTest {
 public:
  explicit CopyTest(int64_t bytes);  // of each of the two sides; throws Error(kOutOfMemory)
  double gb_per_s(ThreadPool& pool, int rounds = 1);

 private:
  HostTensor from_, to_;
};
// 0 when this instruction set has no yardstick.
double measure_gmac_per_s(ThreadPool& pool, CpuIsa isa, DType weights);

MachinePeak measure_peak(ThreadPool& pool, CpuIsa isa, DType weights);

}  // namespace headrace
