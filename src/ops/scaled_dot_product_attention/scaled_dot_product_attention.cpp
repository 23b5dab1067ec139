#include "ops/scaled_dot_product_attention/scaled_dot_product_attention.h"

#include <cmath>
#include <limits>

#include "ops/arange/arange.h"
#include "ops/reference.h"
#include "ops/softmax/softmax.h"
#include "ops/spelling.h"
#include "ops/views/views.h"

namespace headrace {

float ScaledDotProduct::scale_for(int64_t width) const { return scale != 0 ? scale : float(1 / std::sqrt(double(width))); }

namespace {

std::vector<TensorType> infer(const OpCall& call) {
  const TensorType &q = call.input(0), &k = call.input(1), &v = call.input(2);
  const int rank = q.shape.rank();
  call.want(is_float(q.dtype) && k.dtype == q.dtype && v.dtype == q.dtype, "q, k and v are wanted as floats of one type");
  call.want(rank >= 3 && k.shape.rank() == rank && v.shape.rank() == rank, "q, k and v are wanted as (batch..., heads, tokens, width)");
  for (int i = 0; i < rank - 3; ++i)
    call.want(k.shape[i] == q.shape[i] && v.shape[i] == q.shape[i], "q, k and v are wanted with the same batch axes");
  call.want(k.shape[-3] == v.shape[-3] && k.shape[-2] == v.shape[-2], "as many values as keys are wanted");
  call.want(k.shape[-1] == q.shape[-1] && q.shape[-1].is_constant(), "q and k are wanted of one width, a number");
  call.want(k.shape[-3] == q.shape[-3] || (k.shape[-3].is_constant() && q.shape[-3].is_constant() && k.shape[-3].value() > 0 &&
                                           q.shape[-3].value() % k.shape[-3].value() == 0),
            "as many heads of q as of k, or a multiple of them, are wanted");
  Shape scores = q.shape, result = q.shape;
  scores[-1] = k.shape[-2], result[-1] = v.shape[-1];
  if (call.num_inputs() == 4) {
    const TensorType& mask = call.input(3);
    call.want(mask.dtype == DType::kBool || mask.dtype == q.dtype, "the mask is wanted as bool or of q's type");
    call.want(broadcast_shapes(call, mask.shape, scores) == scores, "the mask is wanted to broadcast to the scores, " + scores.to_string());
  }
  return {{q.dtype, result}};
}

void reference(const OpCall& call, std::span<const Tensor> in, std::span<const Tensor> out) {
  const auto& a = call.as<ScaledDotProduct>();
  const Sizes &q = in[0].sizes, &k = in[1].sizes;
  const int64_t heads = q[-3], group = heads / std::max<int64_t>(k[-3], 1), L = q[-2], S = k[-2], E = q[-1], Ev = out[0].sizes[-1];
  const int64_t batches = L * E * heads == 0 ? 0 : q.numel() / (heads * L * E);
  const std::vector<float> qs = read_floats(in[0]), ks = read_floats(in[1]), vs = read_floats(in[2]);
  std::vector<float> added(size_t(batches * heads * L * S), 0.0f), y(size_t(out[0].numel()), 0.0f);
  if (in.size() == 4) {
    const std::vector<float> mask = read_floats(in[3]);
    Sizes scores = q;
    scores[-1] = S;
    const Tensor operand = Tensor::contiguous(nullptr, in[3].dtype, in[3].sizes);
    for_each_broadcast(scores, std::span(&operand, 1), [&](int64_t i, std::span<const int64_t> at) {
      const float m = mask[size_t(at[0])];
      added[size_t(i)] = in[3].dtype != DType::kBool ? m : m != 0 ? 0 : -std::numeric_limits<float>::infinity();
    });
  }
  std::vector<float> scores(static_cast<size_t>(S));
  for (int64_t row = 0; S > 0 && row < batches * heads * L; ++row) {
    const int64_t head = row / L, kv = head / heads * (heads / group) + head % heads / group, token = row % L;
    float most = -std::numeric_limits<float>::infinity(), sum = 0;
    for (int64_t s = 0; s < S; ++s) {
      float dot = 0;
      for (int64_t e = 0; e < E; ++e) dot += qs[size_t(row * E + e)] * ks[size_t((kv * S + s) * E + e)];
      scores[size_t(s)] =
          a.causal && s > token ? -std::numeric_limits<float>::infinity() : dot * a.scale_for(E) + added[size_t(row * S + s)];
      most = std::max(most, scores[size_t(s)]);
    }
    for (float& s : scores) sum += s = std::exp(s - most);
    for (int64_t s = 0; s < S; ++s)
      for (int64_t e = 0; e < Ev; ++e) y[size_t(row * Ev + e)] += scores[size_t(s)] / sum * vs[size_t((kv * S + s) * Ev + e)];
  }
  write_floats(out[0], y);
}

// Keys or values for every head of q.
Value for_all_heads(Graph& graph, Value x, const Dim& heads) {
  if (x.shape()[-3] == heads) return x;
  const int64_t own = x.shape()[-3].value(), group = heads.value() / own;
  std::vector<Dim> split = x.shape().dims(), wide = split, flat = split;
  split.insert(split.end() - 2, Dim(1));
  wide.insert(wide.end() - 2, Dim(group));
  flat[flat.size() - 3] = heads;
  const Value repeated = graph.emit("expand", Expand{.shape = Shape(wide)}, {graph.emit("view", View{.shape = Shape(split)}, {x})});
  return graph.emit("view", View{.shape = Shape(flat)}, {repeated});
}

std::vector<Value> decompose(Graph& graph, const Node& node, std::span<const Value> in) {
  const auto& a = node.attributes_as<ScaledDotProduct>();
  const int rank = in[0].shape().rank();
  const Value k = for_all_heads(graph, in[1], in[0].shape()[-3]), v = for_all_heads(graph, in[2], in[0].shape()[-3]);
  Permute swap;
  for (int i = 0; i < rank; ++i) swap.axes.push_back(i < rank - 2 ? i : 2 * rank - 3 - i);
  Value scores = graph.emit("matmul", {in[0], graph.emit("permute", swap, {k})});
  scores = graph.emit("mul", {scores, number(graph, a.scale_for(in[0].shape()[-1].value()), scores.dtype())});
  const auto hide = [&](Value seen) {
    return graph.emit("where", {seen, scores, number(graph, -std::numeric_limits<double>::infinity(), scores.dtype())});
  };
  if (a.causal) {
    const Dim L = scores.shape()[-2], S = scores.shape()[-1];
    const Value queries = graph.emit("arange", Arange{.shape = {L}}, {}), keys = graph.emit("arange", Arange{.shape = {S}}, {});
    scores = hide(graph.emit("ge", {graph.emit("view", View{.shape = {L, 1}}, {queries}), keys}));
  }
  if (in.size() == 4) scores = in[3].dtype() == DType::kBool ? hide(in[3]) : graph.emit("add", {scores, in[3]});
  return {graph.emit("matmul", {graph.emit("softmax", Softmax{.axis = -1}, {scores}), v})};
}

}  // namespace

void register_scaled_dot_product_attention(OpRegistry& ops) {
  ops.add({.name = "scaled_dot_product_attention",
           .attributes = &attribute_type<ScaledDotProduct>(),
           .min_inputs = 3,
           .max_inputs = 4,
           .infer = infer,
           .reference = reference,
           .decompose = decompose});
}

}  // namespace headrace
