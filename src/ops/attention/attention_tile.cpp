#include "ops/attention/attention_tile.h"

#include "ops/attention/attention_scratch.h"
#include "ops/for_isa.h"

#define HEADRACE_FOR_EACH_ISA "ops/attention/attention_tile.inl.h"
#include "ops/each_isa.inl.h"

namespace headrace {

AttentionCode attention_code(CpuIsa isa, DType kv) {
  return for_isa(isa, baseline::attention_code, avx2::attention_code, avx512vnni::attention_code)(kv);
}

int64_t attention_scratch_bytes(const AttentionShape& shape) { return int64_t(AttentionScratch(nullptr, shape).next); }

}  // namespace headrace
