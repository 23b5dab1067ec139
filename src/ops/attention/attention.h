// Scaled dot-product attention of packed sequences without a cache: softmax(scale q k^T) v, per head. Vaswani et al. 2017, eq. 1;
// grouped heads: Ainslie et al. 2023, query head h reads kv head h / (heads / kv_heads).
#pragma once

#include "ops/kernel.h"

namespace headrace {

struct Attention {
  int heads = 0, kv_heads = 0, head_dim = 0;
  float scale = 0;     // of the scores; 0: 1 / sqrt(head_dim)
  bool causal = true;  // a token sees itself and what is before it
  int window = 0;      // a token sees itself and the window - 1 before it; 0: all
  float softcap = 0;   // scores become softcap * tanh(score / softcap), before masking; 0: none
  void fields(auto&& f) {
    f("heads", heads), f("kv_heads", kv_heads), f("head_dim", head_dim), f("scale", scale);
    f("causal", causal), f("window", window), f("softcap", softcap);
  }
  float score_scale() const;
};

// attention(q (tokens, heads * head_dim), k, v (tokens, kv_heads * head_dim), sequence_offsets i32 (sequences + 1)) -> q's type.
// Sequence s has the rows [sequence_offsets[s], sequence_offsets[s + 1]). A window wants causal.
void register_attention(OpRegistry& ops);
void register_attention_cpu(KernelRegistry& kernels);

// What attention and paged_attention have in common: rejects impossible attributes, and a q that does not have their size.
void check_attention(const OpCall& call, const Attention& a, const TensorType& q);

}  // namespace headrace
