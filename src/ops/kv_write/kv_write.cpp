#include "ops/kv_write/kv_write.h"

#include <cstring>

#include "core/blocks.h"
#include "ops/reference.h"

namespace headrace {

void check_kv_cache(const OpCall& call, const TensorType& kv, int64_t kv_heads, int64_t head_dim) {
  call.want(
      is_float(kv.dtype) && kv.shape.rank() == 5 && kv.shape[1] == Dim(2) && kv.shape[2] == Dim(kv_heads) && kv.shape[4] == Dim(head_dim),
      fmt::format("kv is wanted as floats (num_blocks, 2, {}, block_tokens, {})", kv_heads, head_dim));
}

namespace {

std::vector<TensorType> infer(const OpCall& call) {
  const TensorType &kv = call.input(0), &k = call.input(1), &v = call.input(2), &slots = call.input(3);
  call.want(kv.shape.rank() == 5 && kv.shape[2].is_constant() && kv.shape[4].is_constant(),
            "kv is wanted as (num_blocks, 2, kv_heads, block_tokens, head_dim), kv_heads and head_dim known");
  check_kv_cache(call, kv, kv.shape[2].value(), kv.shape[4].value());
  call.want(is_float(k.dtype) && k.shape.rank() == 2 && k.shape[1] == kv.shape[2] * kv.shape[4],
            "k is wanted as floats (tokens, kv_heads * head_dim)");
  call.want(v == k, "v is wanted with k's type");
  call.want(slots.dtype == DType::kI32 && slots.shape == Shape{k.shape[0]}, "slots are wanted as i32 (tokens)");
  return {kv};
}

void reference(const OpCall&, std::span<const Tensor> in, std::span<const Tensor> out) {
  if (out[0].data != in[0].data) std::memcpy(out[0].data, in[0].data, size_t(in[0].bytes()));
  const KvView kv(out[0]);
  const int64_t kv_heads = in[0].sizes[2], head_dim = in[0].sizes[4];
  const std::vector<int64_t> slots = read_integers(in[3]);
  for (const KvView::Part part : {KvView::kKeys, KvView::kValues}) {
    const std::vector<float> rows = read_floats(in[part == KvView::kKeys ? 1 : 2]);
    for (size_t t = 0; t < slots.size(); ++t)
      for (int64_t head = 0; head < kv_heads && kv.has(slots[t]); ++head)
        from_float(out[0].dtype, &rows[(t * size_t(kv_heads) + size_t(head)) * size_t(head_dim)], kv.vector(slots[t], part, head),
                   head_dim);
  }
}

}  // namespace

void register_kv_write(OpRegistry& ops) {
  ops.add({.name = "kv_write",
           .min_inputs = 4,
           .max_inputs = 4,
           .infer = infer,
           .reference = reference,
           .writes_state = true,
           .in_place_operand = 0});
}

}  // namespace headrace
