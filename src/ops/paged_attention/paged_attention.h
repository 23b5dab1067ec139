// Causal attention of new tokens to a sequence's keys and values in a paged cache. Kwon et al. 2023 (PagedAttention).
#pragma once

#include "ops/attention/attention.h"

namespace headrace {

// paged_attention(q (tokens, heads * head_dim), kv (num_blocks, 2, kv_heads, block_tokens, head_dim), sequence_offsets i32 (sequences + 1),
//                 context_lengths i32 (sequences), block_tables i32 (sequences, max_blocks)) {as Attention, causal} -> q's type.
// kv: keys at [:, 0], values at [:, 1], f32, f16 or bf16; written before (kv_write). Sequence s has context_lengths[s] tokens in the
// cache; the rows [sequence_offsets[s], sequence_offsets[s + 1]) of q are the last of them. Its position p is in block
// block_tables[s, p / block_tokens]; entries past its context are not read.
void register_paged_attention(OpRegistry& ops);
void register_paged_attention_cpu(KernelRegistry& kernels);

}  // namespace headrace
