#include "ops/attention/attention.h"

#include <cmath>

#include "ops/attention/attention_reference.h"
#include "ops/reference.h"

namespace headrace {

float Attention::score_scale() const { return scale != 0 ? scale : 1 / std::sqrt(float(head_dim)); }

void check_attention(const OpCall& call, const Attention& a, const TensorType& q) {
  call.want(a.heads > 0 && a.kv_heads > 0 && a.head_dim > 0, "heads, kv_heads and head_dim are wanted above 0");
  call.want(a.heads % a.kv_heads == 0, "heads are wanted as a multiple of kv_heads");
  call.want(a.scale >= 0 && std::isfinite(a.scale), "the scale is wanted finite and not negative (0: 1 / sqrt(head_dim))");
  call.want(a.softcap >= 0 && std::isfinite(a.softcap), "the softcap is wanted finite and not negative (0: none)");
  call.want(a.window >= 0, "the window is wanted as a number of tokens (0: none)");
  call.want(a.window == 0 || a.causal, "a window wants causal attention");
  call.want(is_float(q.dtype) && q.shape.rank() == 2 && q.shape[1] == Dim(int64_t{a.heads} * a.head_dim),
            "q is wanted as floats (tokens, heads * head_dim)");
}

namespace {

std::vector<TensorType> infer(const OpCall& call) {
  const auto& a = call.as<Attention>();
  const TensorType &q = call.input(0), &k = call.input(1), &v = call.input(2), &offsets = call.input(3);
  check_attention(call, a, q);
  call.want(k.dtype == q.dtype && k.shape == Shape{q.shape[0], int64_t{a.kv_heads} * a.head_dim},
            "k is wanted with q's type and tokens, (tokens, kv_heads * head_dim)");
  call.want(v == k, "v is wanted with k's type");
  call.want(offsets.dtype == DType::kI32 && offsets.shape.rank() == 1, "sequence_offsets are wanted as i32 (sequences + 1)");
  return {q};
}

void reference(const OpCall& call, std::span<const Tensor> in, std::span<const Tensor> out) {
  const auto& a = call.as<Attention>();
  const std::vector<float> q = read_floats(in[0]), k = read_floats(in[1]), v = read_floats(in[2]);
  const std::vector<int64_t> offsets = read_integers(in[3]);
  const int64_t d = a.head_dim, q_row = a.heads * d, kv_row = a.kv_heads * d;
  std::vector<float> y(q.size());
  for (size_t s = 0; s + 1 < offsets.size(); ++s) {
    const int64_t first = offsets[s], length = offsets[s + 1] - first;
    for (int64_t position = 0; position < length; ++position) {
      for (int64_t head = 0; head < a.heads; ++head) {
        const int64_t at = (first + position) * q_row + head * d, kv_at = first * kv_row + head / (a.heads / a.kv_heads) * d;
        attend(
            a, visible_keys(a, position, length), &q[at], [&](int64_t j) { return &k[kv_at + j * kv_row]; },
            [&](int64_t j) { return &v[kv_at + j * kv_row]; }, &y[at]);
      }
    }
  }
  write_floats(out[0], y);
}

}  // namespace

void register_attention(OpRegistry& ops) {
  ops.add({.name = "attention",
           .attributes = &attribute_type<Attention>(),
           .min_inputs = 4,
           .max_inputs = 4,
           .infer = infer,
           .reference = reference});
}

}  // namespace headrace
