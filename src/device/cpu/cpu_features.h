// Which instruction sets this machine can run. Objects are built for the baseline; faster code is chosen at run time.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headrace {

// Each level includes those above it. kBaseline is portable C++.
enum class CpuIsa {
  kBaseline,
  kAvx2,        // AVX2, FMA, F16C, BMI2
  kAvx512Vnni,  // AVX-512 F, BW, DQ, VL and VNNI
  kAvx512Bf16,  // and AVX-512 BF16
};

std::string_view name(CpuIsa isa);  // "baseline", "avx2", "avx512vnni", "avx512bf16"

// What the processor and the operating system can run, lowest first; never empty.
std::vector<CpuIsa> runnable_cpu_isas();

// The highest of them, or the one that environment variable HEADRACE_CPU_ISA names. Throws Error(kInvalidArgument) for an
// unknown name, Error(kUnsupported) for more than the machine has.
CpuIsa best_cpu_isa();

// The CPU's flags that matter here, for people: "avx2 fma f16c avx512f ...".
std::string cpu_flags();

}  // namespace headrace
