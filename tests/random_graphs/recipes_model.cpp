// Linears, rotary embedding and attention.
#include <cmath>

#include "random_graphs/recipes.h"

namespace headrace::fuzzing {

Value spelt_linear(Maker& m, Value x, Dim out) {
  const Dim in = x.shape()[-1];
  const auto by_matmul = [&] {
    if (m.random.chance(0.5)) return matmul(x, m.parameter(x.dtype(), {in, out}));
    return matmul(x, permute(m.parameter(x.dtype(), {out, in}), {1, 0}));
  };
  Value y = m.random.chance(0.3) ? by_matmul() : linear(x, m.weight(out, in));
  if (m.random.chance(0.4)) y = plus(m, y, m.parameter(m.random.chance(0.8) ? y.dtype() : m.float_type(), {out}));
  return y;
}

Value spelt_mlp(Maker& m, Value x) {
  const int64_t inner = m.fixed_size();
  Value h;
  if (m.random.chance(0.3)) {
    h = spelt_activation(m, spelt_linear(m, x, inner));
  } else if (m.random.chance(0.5)) {
    h = times(m, spelt_activation(m, spelt_linear(m, x, inner)), spelt_linear(m, x, inner));
  } else {  // gate and up in one linear
    const Value both = spelt_linear(m, x, inner * 2);
    h = times(m, spelt_activation(m, slice(both, -1, 0, inner)), slice(both, -1, inner, inner * 2));
  }
  return spelt_linear(m, as_type(h, x.dtype()), x.shape()[-1]);
}

Value spelt_rope(Maker& m, Value x, Value positions) {
  const int64_t dim = x.shape()[-1].value(), half = dim / 2;
  const Dim tokens = x.shape()[0], heads = x.shape()[1];
  const Value frequencies = m.parameter(DType::kF32, {1, half});
  const Value angles = mul(view(cast(positions, DType::kF32), {tokens, 1}), frequencies);  // (tokens, half)
  if (m.random.chance(0.4)) {                                                              // pairs of neighbours
    const Value pairs = view(x, {tokens, heads, half, 2});
    const Value shaped = view(angles, {tokens, 1, half, 1});
    const Value c = as_type(apply(m, "cos", shaped), x.dtype()), s = as_type(apply(m, "sin", shaped), x.dtype());
    const Value a = slice(pairs, -1, 0, 1), b = slice(pairs, -1, 1, 2);
    return view(concat({sub(mul(a, c), mul(b, s)), plus(m, mul(b, c), mul(a, s))}, -1), {tokens, heads, dim});
  }
  const Value shaped = view(m.random.chance(0.5) ? concat({angles, angles}, -1) : angles, {tokens, 1, -1});
  const Value c = as_type(apply(m, "cos", shaped), x.dtype()), s = as_type(apply(m, "sin", shaped), x.dtype());
  const Value a = slice(x, -1, 0, half), b = slice(x, -1, half, dim);
  if (shaped.shape()[-1] == Dim(dim)) return plus(m, times(m, x, c), times(m, concat({apply(m, "neg", b), a}, -1), s));
  return concat({sub(times(m, a, c), times(m, b, s)), plus(m, times(m, b, c), times(m, a, s))}, -1);
}

Value spelt_attention(Maker& m, Value x) {
  const Dim tokens = x.shape()[0];
  const int64_t kv_heads = m.random.between(1, 2), group = m.random.pick({1, 1, 2, 3}), heads = kv_heads * group;
  const int64_t head_dim = m.random.pick({2, 4, 8});
  const auto projected = [&](int64_t count) { return view(spelt_linear(m, x, count * head_dim), {tokens, count, head_dim}); };
  Value q = projected(heads), k = projected(kv_heads), v = projected(kv_heads);
  if (m.random.chance(0.3)) q = spelt_norm(m, q), k = spelt_norm(m, k);
  if (m.random.chance(0.5)) {
    const Value positions = m.input("index", DType::kI32, {tokens});
    q = spelt_rope(m, q, positions), k = spelt_rope(m, k, positions);
  }
  v = as_type(v, q.dtype()), k = as_type(k, q.dtype());
  q = permute(q, {1, 0, 2}), k = permute(k, {1, 0, 2}), v = permute(v, {1, 0, 2});  // (heads, tokens, head_dim)
  if (group > 1) {
    const auto repeated = [&](Value y) {
      const Value spread = m.graph.emit("expand", Expand{{kv_heads, group, tokens, head_dim}}, {view(y, {kv_heads, 1, tokens, head_dim})});
      return view(spread, {heads, tokens, head_dim});
    };
    k = repeated(k), v = repeated(v);
  }
  const double scale = m.random.chance(0.7) ? 1 / std::sqrt(double(head_dim)) : 0.25;
  const bool scale_q = m.random.chance(0.3);
  if (scale_q) q = times(m, q, numbered(m, q, scale));
  Value scores = matmul(q, with_axes_swapped(k, 1, 2));
  if (!scale_q) scores = m.random.chance(0.5) ? times(m, scores, numbered(m, scores, scale)) : div(scores, numbered(m, scores, 1 / scale));
  if (m.random.chance(0.4)) {
    scores = plus(m, scores, m.input("mask", m.random.chance(0.8) ? scores.dtype() : DType::kF32, {tokens, tokens}));
  } else if (m.random.chance(0.5)) {
    const Value seen = m.input("x", DType::kBool, {tokens, tokens});
    scores = m.graph.emit("where", {seen, scores, m.number(m.random.pick({-INFINITY, -1e4f}), scores.dtype())});
  }
  Value mixed = matmul(as_type(spelt_softmax(m, scores), v.dtype()), v);  // (heads, tokens, head_dim)
  mixed = view(permute(mixed, {1, 0, 2}), {tokens, heads * head_dim});
  return as_type(spelt_linear(m, mixed, x.shape()[-1]), x.dtype());
}

}  // namespace headrace::fuzzing
