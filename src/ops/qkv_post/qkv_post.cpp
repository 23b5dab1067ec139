#include "ops/qkv_post/qkv_post.h"

#include <cmath>
#include <cstring>

#include "core/blocks.h"
#include "ops/kv_write/kv_write.h"
#include "ops/reference.h"
#include "ops/rms_norm/rms_norm.h"
#include "ops/rope/rope.h"
#include "ops/views/views.h"

namespace headrace {
namespace {

std::vector<TensorType> infer(const OpCall& call) {
  const auto& a = call.as<QkvPost>();
  const TensorType &kv = call.input(0), &q = call.input(1), &k = call.input(2), &v = call.input(3), &table = call.input(4),
                   &slots = call.input(5);
  call.want(call.num_inputs() == (a.qk_norm ? 8 : 6),
            a.qk_norm ? "q_norm and k_norm are wanted as operands 6 and 7" : "6 operands are wanted without qk_norm");
  call.want(a.heads > 0 && a.kv_heads > 0 && a.head_dim > 0, "heads, kv_heads and head_dim are wanted above 0");
  check_kv_cache(call, kv, a.kv_heads, a.head_dim);
  call.want(is_float(q.dtype) && q.shape.rank() == 2 && q.shape[1] == Dim(int64_t{a.heads} * a.head_dim),
            "q is wanted as floats (tokens, heads * head_dim)");
  call.want(k.dtype == q.dtype && k.shape == Shape{q.shape[0], int64_t{a.kv_heads} * a.head_dim},
            "k is wanted with q's type and tokens, (tokens, kv_heads * head_dim)");
  call.want(v == k, "v is wanted with k's type");
  call.want(table.dtype == DType::kF32 && table.shape.rank() == 2 && table.shape[0] == q.shape[0] && table.shape[1].is_constant(),
            "the table is wanted as f32 (tokens, rotary_dim)");
  const int64_t rotary_dim = table.shape[1].value();
  call.want(rotary_dim % 2 == 0 && rotary_dim <= a.head_dim, "rotary_dim is wanted even and at most head_dim");
  call.want(slots.dtype == DType::kI32 && slots.shape == Shape{q.shape[0]}, "slots are wanted as i32 (tokens)");
  for (int i = 6; i < call.num_inputs(); ++i)
    call.want(is_float(call.input(i).dtype) && call.input(i).shape == Shape{a.head_dim},
              "q_norm and k_norm are wanted as floats (head_dim)");
  return {kv, q};
}

std::vector<Value> decompose(Graph& graph, const Node& node, std::span<const Value> in) {
  const auto& a = node.attributes_as<QkvPost>();
  const auto rotated = [&](Value x, int64_t heads, int norm_operand) {
    if (a.qk_norm) {
      const Shape flat = x.shape();
      x = graph.emit("view", View{Shape{flat[0], heads, a.head_dim}}, {x});
      x = graph.emit("rms_norm", RmsNorm{a.eps}, {x, in[norm_operand]});
      x = graph.emit("view", View{flat}, {x});
    }
    return graph.emit("rope", Rope{.head_dim = a.head_dim, .interleaved = a.interleaved}, {x, in[4]});
  };
  const Value q = rotated(in[1], a.heads, 6), k = rotated(in[2], a.kv_heads, 7);
  return {graph.emit("kv_write", {in[0], k, in[3], in[5]}), q};
}

void reference(const OpCall& call, std::span<const Tensor> in, std::span<const Tensor> out) {
  const auto& a = call.as<QkvPost>();
  const size_t d = size_t(a.head_dim), rotary = size_t(in[4].sizes[1]), half = rotary / 2;
  const std::vector<float> table = read_floats(in[4]), v = read_floats(in[3]);
  const std::vector<int64_t> slots = read_integers(in[5]);
  const auto rotated = [&](const Tensor& tensor, size_t heads, size_t norm_operand) {
    std::vector<float> x = read_floats(tensor);
    for (size_t vector = 0; vector * d < x.size(); ++vector) {
      float* head = &x[vector * d];
      if (a.qk_norm) {
        const std::vector<float> weight = read_floats(in[norm_operand]);
        float sum = 0;
        for (size_t i = 0; i < d; ++i) sum += head[i] * head[i];
        const float scale = 1 / std::sqrt(sum / float(d) + a.eps);
        for (size_t i = 0; i < d; ++i) head[i] *= scale * weight[i];
      }
      for (size_t i = 0; i < half; ++i) {
        const float cos = table[vector / heads * rotary + i], sin = table[vector / heads * rotary + half + i];
        float &x0 = head[a.interleaved ? 2 * i : i], &x1 = head[a.interleaved ? 2 * i + 1 : i + half];
        const float y0 = x0 * cos - x1 * sin, y1 = x1 * cos + x0 * sin;
        x0 = y0, x1 = y1;
      }
    }
    return x;
  };
  write_floats(out[1], rotated(in[1], size_t(a.heads), 6));
  const std::vector<float> k = rotated(in[2], size_t(a.kv_heads), 7);
  if (out[0].data != in[0].data) std::memcpy(out[0].data, in[0].data, size_t(in[0].bytes()));
  const KvView kv(out[0]);
  for (size_t t = 0; t < slots.size(); ++t)
    for (size_t head = 0; head < size_t(a.kv_heads) && kv.has(slots[t]); ++head) {
      const size_t at = (t * size_t(a.kv_heads) + head) * d;
      from_float(out[0].dtype, &k[at], kv.vector(slots[t], KvView::kKeys, int64_t(head)), a.head_dim);
      from_float(out[0].dtype, &v[at], kv.vector(slots[t], KvView::kValues, int64_t(head)), a.head_dim);
    }
}

}  // namespace

void register_qkv_post(OpRegistry& ops) {
  ops.add({.name = "qkv_post",
           .attributes = &attribute_type<QkvPost>(),
           .min_inputs = 6,
           .max_inputs = 8,
           .infer = infer,
           .reference = reference,
           .decompose = decompose,
           .writes_state = true,
           .in_place_operand = 0});
}

}  // namespace headrace
