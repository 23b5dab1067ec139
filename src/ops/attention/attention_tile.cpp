#include "ops/attention/attention_tile.h"

#include "ops/attention/attention_scratch.h"
#include "ops/for_isa.h"

#define HEADRACE_FOR_EACH_ISA "ops/attention/attention_f32.inl.h"
#include "ops/each_isa.inl.h"

#if defined(__x86_64__)
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c,bmi2,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx512bf16")
namespace headrace::avx512bf16 {
// clang-format off
#include "device/cpu/simd_avx512.inl.h"
#include "device/cpu/simd_math.inl.h"
#include "ops/attention/attention_products_bf16.inl.h"
#include "ops/attention/attention_tile.inl.h"
// clang-format on
}  // namespace headrace::avx512bf16
#pragma GCC pop_options
#endif

namespace headrace {

AttentionCode attention_code(CpuIsa isa, DType kv, Arithmetic arithmetic) {
#if defined(__x86_64__)
  if (isa == CpuIsa::kAvx512Bf16 && kv == DType::kBF16 && arithmetic == Arithmetic::kFast)
    return avx512bf16::attention_code<avx512bf16::Bf16Products>();
#endif
  return for_isa(isa, baseline::attention_code_f32, avx2::attention_code_f32, avx512vnni::attention_code_f32)(kv);
}

int64_t attention_scratch_bytes(const AttentionShape& shape) { return int64_t(AttentionScratch(nullptr, shape).next); }

}  // namespace headrace
