// Attention in fp32 over any float cache. Included by ops/each_isa.inl.h.
#include "ops/attention/attention_products_f32.inl.h"
#include "ops/attention/attention_tile.inl.h"

AttentionCode attention_code_f32(DType kv) {
  switch (kv) {
    case DType::kF16: return attention_code<F32Products<Half>>();
    case DType::kBF16: return attention_code<F32Products<BFloat16>>();
    default: return attention_code<F32Products<float>>();
  }
}
