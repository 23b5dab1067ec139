// The list of instruction sets that files written over F32 (device/cpu/simd.h) are compiled for: once each, in namespaces
// headrace::baseline, avx2 and avx512vnni. The includer says which file, after every other #include:
//   #define HEADRACE_EACH_ISA_BODY "device/cpu/simd_probe.inl.h"
//   #include "device/cpu/each_isa.inl.h"
#include "device/cpu/simd.h"

namespace headrace::baseline {
#include "device/cpu/simd_baseline.inl.h"
#include "device/cpu/simd_math.inl.h"
#include HEADRACE_EACH_ISA_BODY
}  // namespace headrace::baseline

#if defined(__x86_64__)
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c,bmi2")
namespace headrace::avx2 {
#include "device/cpu/simd_avx2.inl.h"
#include "device/cpu/simd_math.inl.h"
#include HEADRACE_EACH_ISA_BODY
}  // namespace headrace::avx2
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c,bmi2,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")
namespace headrace::avx512vnni {
#include "device/cpu/simd_avx512.inl.h"
#include "device/cpu/simd_math.inl.h"
#include HEADRACE_EACH_ISA_BODY
}  // namespace headrace::avx512vnni
#pragma GCC pop_options
#else
namespace headrace {
namespace avx2 = baseline;
namespace avx512vnni = baseline;
}  // namespace headrace
#endif
#undef HEADRACE_EACH_ISA_BODY
