// Norms and activations, and the list of all recipes.
#include "random_graphs/recipes.h"

namespace headrace::fuzzing {

Value spelt_rms_norm(Maker& m, Value x) {
  const bool widen = x.dtype() != DType::kF32 && m.random.chance(0.7);
  const Value wide = widen ? cast(x, DType::kF32) : x;
  const Value mean = mean_of(m, squared(m, wide));
  const Value steady = plus(m, mean, numbered(m, mean, m.random.pick({1e-6, 1e-5, 0.5})));
  Value y = m.random.chance(0.8) ? times(m, wide, one_over_root(m, steady)) : div(wide, apply(m, "sqrt", steady));
  if (widen && m.random.chance(0.5)) y = cast(y, x.dtype());
  if (m.random.chance(0.85)) {
    Value weight = m.parameter(m.random.chance(0.7) ? y.dtype() : m.float_type(), {x.shape()[-1]});
    if (m.random.chance(0.2)) weight = plus(m, weight, numbered(m, weight, 1));
    y = times(m, y, weight);
  }
  return m.random.chance(0.8) ? as_type(y, x.dtype()) : y;
}

Value spelt_layer_norm(Maker& m, Value x) {
  const bool widen = x.dtype() != DType::kF32 && m.random.chance(0.7);
  const Value wide = widen ? cast(x, DType::kF32) : x;
  const Value centred = sub(wide, mean_of(m, wide));
  const Value variance = mean_of(m, squared(m, m.random.chance(0.8) ? centred : sub(wide, mean_of(m, wide))));
  const Value steady = plus(m, variance, numbered(m, variance, m.random.pick({1e-6, 1e-5, 0.5})));
  Value y = m.random.chance(0.5) ? times(m, centred, one_over_root(m, steady)) : div(centred, apply(m, "sqrt", steady));
  if (m.random.chance(0.8)) y = times(m, y, m.parameter(m.random.chance(0.7) ? y.dtype() : m.float_type(), {x.shape()[-1]}));
  if (m.random.chance(0.7)) y = plus(m, y, m.parameter(m.random.chance(0.7) ? y.dtype() : m.float_type(), {x.shape()[-1]}));
  return m.random.chance(0.8) ? as_type(y, x.dtype()) : y;
}

Value spelt_norm(Maker& m, Value x) {
  return any_of(
      m, [&] { return spelt_rms_norm(m, x); }, [&] { return spelt_layer_norm(m, x); },
      [&] { return rms_norm(x, m.parameter(m.float_type(), {x.shape()[-1]}), 1e-5f); });
}

Value spelt_silu(Maker& m, Value x) {
  return any_of(
      m, [&] { return times(m, x, apply(m, "sigmoid", x)); },
      [&] { return div(x, plus(m, numbered(m, x, 1), apply(m, "exp", apply(m, "neg", x)))); }, [&] { return apply(m, "silu", x); });
}

Value spelt_gelu(Maker& m, Value x) {
  const auto half_times = [&](Value inner) {
    const Value one_more = plus(m, inner, numbered(m, x, 1));
    return any_of(
        m, [&] { return times(m, times(m, x, numbered(m, x, 0.5)), one_more); },
        [&] { return times(m, numbered(m, x, 0.5), times(m, x, one_more)); },
        [&] { return times(m, x, times(m, numbered(m, x, 0.5), one_more)); });
  };
  const auto by_erf = [&] {
    const Value scaled =
        m.random.chance(0.5) ? div(x, numbered(m, x, 1.4142135623730951)) : times(m, x, numbered(m, x, 0.70710678118654752));
    return half_times(apply(m, "erf", scaled));
  };
  const auto by_tanh = [&] {
    const Value cube = any_of(
        m, [&] { return power_of(m, x, 3); }, [&] { return times(m, x, squared(m, x)); });
    const Value sum = plus(m, x, times(m, cube, numbered(m, x, 0.044715)));
    return half_times(tanh(times(m, sum, numbered(m, x, 0.7978845608028654))));
  };
  return any_of(m, by_erf, by_tanh, [&] { return times(m, x, apply(m, "sigmoid", times(m, x, numbered(m, x, 1.702)))); });
}

Value spelt_activation(Maker& m, Value x) {
  return any_of(
      m, [&] { return spelt_silu(m, x); }, [&] { return spelt_gelu(m, x); }, [&] { return relu(x); },
      [&] { return gelu(x, GeluApproximation::kTanh); });
}

Value spelt_softmax(Maker& m, Value x) {
  if (m.random.chance(0.3)) return softmax(x, -1);
  const Value shifted = m.random.chance(0.8) ? sub(x, reduced(m, "max", x)) : x;
  const Value numerator = apply(m, "exp", shifted);
  return div(numerator, reduced(m, "sum", numerator));
}

namespace {

// Of a value of the graph: with a last axis, and of some size.
template <Value (*Spelling)(Maker&, Value)>
void of_floats(Maker& m) {
  Spelling(m, m.floats(1));
}

void residual_and_norm(Maker& m) {
  const Value x = m.floats(1);
  spelt_norm(m, plus(m, x, m.like(x)));
}

void pointwise_run(Maker& m) {
  Value x = m.floats();
  for (int64_t i = m.random.between(2, 6); i > 0; --i) {
    const Value before = x;
    x = any_of(
        m, [&] { return plus(m, x, m.beside(x)); }, [&] { return times(m, x, m.beside(x)); }, [&] { return tanh(x); },
        [&] { return sigmoid(x); },
        [&] {
          return m.graph.emit("maximum", {x, m.beside(x)});
        },
        [&] { return sub(m.beside(x), x); }, [&] { return cast(x, m.float_type()); });
    if (m.random.chance(0.2)) x = plus(m, x, before);
  }
}

// A row reduction between pointwise ops, or two that depend on each other.
void row_region(Maker& m) {
  const Value x = m.floats(1);
  Value y = tanh(x);
  for (int64_t i = m.random.between(1, 2); i > 0; --i) {
    const Value row = reduced(m, m.random.pick({"sum", "mean", "max", "min"}), m.random.chance(0.5) ? squared(m, y) : y);
    y = m.random.chance(0.5) ? sub(y, row) : div(y, plus(m, apply(m, "abs", row), numbered(m, row, 1)));
  }
  times(m, y, m.beside(y));
}

void linear_and_more(Maker& m) {
  const Value x = m.floats(1);
  Value y = spelt_linear(m, m.random.chance(0.5) ? spelt_norm(m, x) : x, m.random.chance(0.5) ? x.shape()[-1] : Dim(m.fixed_size()));
  if (m.random.chance(0.6)) y = spelt_activation(m, y);
  if (m.random.chance(0.5)) plus(m, y, m.like(y));
}

void parallel_linears(Maker& m) {
  const Value x = m.floats(1);
  for (int64_t i = m.random.between(2, 4); i > 0; --i) {
    const Value y = spelt_linear(m, x, m.fixed_size());
    if (m.random.chance(0.3)) spelt_activation(m, y);
  }
}

void dequantized_weight(Maker& m) {
  const Value x = m.floats(1);
  const Dim in = x.shape()[-1];
  Value w = cast(m.weight(m.fixed_size(), in), x.dtype());
  if (m.random.chance(0.3)) w = concat({w, cast(m.weight(m.fixed_size(), in), x.dtype())}, 0);
  if (m.random.chance(0.3)) w = slice(w, 0, 0, std::max<int64_t>(1, w.shape()[0].value() / 2));
  if (m.random.chance(0.3)) w = plus(m, w, m.parameter(x.dtype(), w.shape()));
  m.random.chance(0.5) ? linear(x, w) : matmul(x, permute(w, {1, 0}));
}

void embedding_and_norm(Maker& m) {
  const Value table = m.parameter(m.float_type(), {m.fixed_size(), m.fixed_size()});
  spelt_norm(m, embedding(m.input("index", DType::kI32, {m.size()}), table));
}

Value hidden_states(Maker& m) {  // (tokens, hidden)
  return m.leaf(m.float_type(), {m.size(), m.random.pick({4, 8, 12, 16, 32})});
}

void attention(Maker& m) { spelt_attention(m, hidden_states(m)); }

void rope_alone(Maker& m) {
  const Dim tokens = m.size();
  spelt_rope(m, m.leaf(m.float_type(), {tokens, m.random.between(1, 3), m.random.pick({2, 4, 8})}),
             m.input("index", DType::kI32, {tokens}));
}

void transformer_layer(Maker& m) {
  Value x = hidden_states(m);
  for (int64_t i = m.random.between(1, 2); i > 0; --i) {
    x = plus(m, x, spelt_attention(m, spelt_norm(m, x)));
    x = plus(m, x, spelt_mlp(m, spelt_norm(m, x)));
  }
}

constexpr Recipe kRecipes[] = {
    {"rms_norm", of_floats<spelt_rms_norm>},
    {"layer_norm", of_floats<spelt_layer_norm>},
    {"silu", of_floats<spelt_silu>},
    {"gelu", of_floats<spelt_gelu>},
    {"softmax", of_floats<spelt_softmax>},
    {"mlp", of_floats<spelt_mlp>},
    {"residual and norm", residual_and_norm},
    {"pointwise run", pointwise_run},
    {"row region", row_region},
    {"linear and more", linear_and_more},
    {"parallel linears", parallel_linears},
    {"dequantized weight", dequantized_weight},
    {"embedding and norm", embedding_and_norm},
    {"attention", attention},
    {"rope", rope_alone},
    {"transformer layer", transformer_layer},
};

}  // namespace

std::span<const Recipe> recipes() { return kRecipes; }

}  // namespace headrace::fuzzing
