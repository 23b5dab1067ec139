#include "cpu_linear/kernel_table.h"

#include "cpu_linear/kernels.h"

namespace headrace {

const KernelTable& kernel_table(CpuIsa isa) {
#if defined(__x86_64__)
  switch (isa) {
    case CpuIsa::kBaseline: return baseline::table();
    case CpuIsa::kAvx2: return avx2::table();
    case CpuIsa::kAvx512Vnni: return avx512vnni::table();
    case CpuIsa::kAvx512Bf16: return avx512bf16::table();
  }
#endif
  (void)isa;
  return baseline::table();
}

}  // namespace headrace
