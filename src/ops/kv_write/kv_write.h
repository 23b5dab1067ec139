// Writes new keys and values into a paged cache.
#pragma once

#include "ops/kernel.h"

namespace headrace {

// kv_write(kv (num_blocks, 2, kv_heads, block_tokens, head_dim), k, v (tokens, kv_heads * head_dim), slots i32 (tokens)) -> kv, in place.
// kv is f32, f16 or bf16, keys at [:, 0] and values at [:, 1]; k and v are rounded to its type. Slot s is place s % block_tokens of
// block s / block_tokens; a token whose slot is not in the cache, such as -1, is not written. No two tokens have the same slot.
void register_kv_write(OpRegistry& ops);
void register_kv_write_cpu(KernelRegistry& kernels);

// Rejects a kv that is no cache for heads of this kind.
void check_kv_cache(const OpCall& call, const TensorType& kv, int64_t kv_heads, int64_t head_dim);

// A cache's memory as (num_blocks, 2, kv_heads, block_tokens) vectors of head_dim consecutive elements. Strides count elements.
struct KvView {
  KvView(const Tensor& kv)  // NOLINT: another look at the same memory
      : data(kv.as<std::byte>()), element_bytes(info(kv.dtype).block_bytes), strides(kv.strides), kv_heads(kv.sizes[2]),
        block_tokens(kv.sizes[3]), head_dim(kv.sizes[4]), num_slots(kv.sizes[0] * kv.sizes[3]) {}
  std::byte* data;
  int64_t element_bytes;
  Sizes strides;
  int64_t kv_heads, block_tokens, head_dim, num_slots;

  // Of the keys and values of so many tokens.
  int64_t bytes_of(int64_t tokens) const { return tokens * 2 * kv_heads * head_dim * element_bytes; }

  bool has(int64_t slot) const { return slot >= 0 && slot < num_slots; }
  enum Part { kKeys, kValues };
  std::byte* vector(int64_t slot, Part part, int64_t kv_head) const {
    const int64_t block = slot / block_tokens, place = slot % block_tokens;
    return data + (block * strides[0] + part * strides[1] + kv_head * strides[2] + place * strides[3]) * element_bytes;
  }
};

}  // namespace headrace
