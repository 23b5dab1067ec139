// Attention over dense batches of heads, as PyTorch's function of this name: softmax(scale q k^T + mask) v. Vaswani et al. 2017, eq. 1;
// fewer key heads than query heads: Ainslie et al. 2023. Packed sequences have `attention`.
#pragma once

#include "ops/kernel.h"

namespace headrace {

struct ScaledDotProduct {
  float scale = 0;      // of the scores; 0: 1 / sqrt(E)
  bool causal = false;  // query i sees keys 0 to i
  void fields(auto&& f) { f("scale", scale), f("causal", causal); }
  float scale_for(int64_t width) const;
};

// scaled_dot_product_attention(q (batch..., heads, L, E), k (batch..., kv_heads, S, E), v (batch..., kv_heads, S, Ev)[, mask])
// -> (batch..., heads, L, Ev) of q's type; all floats of one type, heads a multiple of kv_heads (head h reads h / (heads / kv_heads)).
// The mask broadcasts to (batch..., heads, L, S): bool (false: not seen), or q's type, which is added to the scores. In fp32; a query that
// sees nothing gives NaN, unless there are no keys at all: zeros.
void register_scaled_dot_product_attention(OpRegistry& ops);
void register_scaled_dot_product_attention_cpu(KernelRegistry& kernels);

}  // namespace headrace
