#include "ops/paged_attention/paged_attention.h"

#include "ops/attention/attention_reference.h"
#include "ops/kv_write/kv_write.h"
#include "ops/reference.h"

namespace headrace {
namespace {

std::vector<TensorType> infer(const OpCall& call) {
  const auto& a = call.as<Attention>();
  const TensorType &q = call.input(0), &kv = call.input(1), &offsets = call.input(2), &lengths = call.input(3), &tables = call.input(4);
  check_attention(call, a, q);
  call.want(a.causal, "attention over a cache is causal");
  check_kv_cache(call, kv, a.kv_heads, a.head_dim);
  for (const TensorType* t : {&offsets, &lengths, &tables})
    call.want(t->dtype == DType::kI32, "offsets, lengths and tables are wanted as i32");
  call.want(lengths.shape.rank() == 1, "context_lengths are wanted as (sequences)");
  call.want(offsets.shape == Shape{lengths.shape[0] + 1}, "sequence_offsets are wanted as (sequences + 1)");
  call.want(tables.shape.rank() == 2 && tables.shape[0] == lengths.shape[0], "block_tables are wanted as (sequences, max_blocks)");
  return {q};
}

void reference(const OpCall& call, std::span<const Tensor> in, std::span<const Tensor> out) {
  const auto& a = call.as<Attention>();
  const std::vector<float> q = read_floats(in[0]), kv = read_floats(in[1]);
  const std::vector<int64_t> offsets = read_integers(in[2]), lengths = read_integers(in[3]), tables = read_integers(in[4]);
  const int64_t d = a.head_dim, q_row = a.heads * d, block_tokens = in[1].sizes[3], max_blocks = in[4].sizes[1];
  std::vector<float> y(q.size());
  for (size_t s = 0; s < lengths.size(); ++s) {
    const int64_t num_new = offsets[s + 1] - offsets[s];
    for (int64_t t = 0; t < num_new; ++t) {
      for (int64_t head = 0; head < a.heads; ++head) {
        const int64_t kv_head = head / (a.heads / a.kv_heads), at = (offsets[s] + t) * q_row + head * d;
        const auto vector = [&](int64_t which, int64_t j) {
          const int64_t block = tables[s * size_t(max_blocks) + size_t(j / block_tokens)];
          return &kv[(((block * 2 + which) * a.kv_heads + kv_head) * block_tokens + j % block_tokens) * d];
        };
        attend(
            a, visible_keys(a, lengths[s] - num_new + t, lengths[s]), &q[at], [&](int64_t j) { return vector(0, j); },
            [&](int64_t j) { return vector(1, j); }, &y[at]);
      }
    }
  }
  write_floats(out[0], y);
}

}  // namespace

void register_paged_attention(OpRegistry& ops) {
  ops.add({.name = "paged_attention",
           .attributes = &attribute_type<Attention>(),
           .min_inputs = 5,
           .max_inputs = 5,
           .infer = infer,
           .reference = reference});
}

}  // namespace headrace
