// What happens between the projections and attention, in one pass over q, k and v: head norms, rotation, writing to the cache.
#pragma once

#include "ops/kernel.h"

namespace headrace {

struct QkvPost {
  int heads = 0, kv_heads = 0, head_dim = 0;
  bool interleaved = false;  // rotates pairs (2 i, 2 i + 1), not (i, i + rotary_dim / 2)
  bool qk_norm = false;      // RMS norm of every head of q and k, before the rotation
  float eps = 1e-6f;         // of the norm
  void fields(auto&& f) {
    f("heads", heads), f("kv_heads", kv_heads), f("head_dim", head_dim);
    f("interleaved", interleaved), f("qk_norm", qk_norm), f("eps", eps);
  }
};

// qkv_post(kv, q (tokens, heads * head_dim), k, v (tokens, kv_heads * head_dim), table f32 (tokens, rotary_dim), slots i32 (tokens)
//          [, q_norm (head_dim), k_norm (head_dim)]) -> (kv in place, rotated q of q's type).
// kv and slots as in kv_write, table as in rope: [cos | sin] for the first rotary_dim elements of each head.
// Decomposes into view, rms_norm, rope and kv_write.
void register_qkv_post(OpRegistry& ops);
void register_qkv_post_cpu(KernelRegistry& kernels);

}  // namespace headrace
