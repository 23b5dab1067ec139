#include "compiler/recognize/recognize.h"
#include "compiler/recognize/spellings.h"
#include "ops/unary/unary.h"

namespace headrace {
namespace {

// f of what the pattern calls x; the rule stands back where that would have another type.
Rule unary_rule(std::string name, Pattern pattern, std::string op, Attributes attributes = {}) {
  return {std::move(name), std::move(pattern), [op = std::move(op), attributes = std::move(attributes)](Graph& graph, const Match& m) {
            return is_float(m["x"].dtype()) && m["x"].type() == m.root().type() ? std::vector{graph.emit(op, attributes, {m["x"]})}
                                                                                : std::vector<Value>();
          }};
}

// A cast of f of a cast, back to the type before: f of what was not widened, which computes in f32 as well.
std::vector<Value> narrow(Graph& graph, const Match& m) {
  if (m["x"].type() != m.root().type() || m["wide"].dtype() != DType::kF32) return {};
  const Node& f = m.node("f");
  return {graph.emit(f.op().name, f.attributes(), {m["x"]})};
}

}  // namespace

std::vector<Rule> activation_rules() {
  const Pattern x = any("x"), one = number(1), half = number(0.5);
  const Pattern one_and_exp = op("add", {op("exp", {negative_of(x)}), one});
  const Pattern erf = op("erf", {any_of({op("mul", {x, about(0.7071067811865476)}), op("div", {x, about(1.4142135623730951)})})});
  const Pattern tanh = op("tanh", {op("mul", {op("add", {x, op("mul", {cube_of(x), about(0.044715)})}), about(0.7978845608028654)})});
  // Some write sqrt(2 / pi) (x + 0.044715 x^3) as x sqrt(2 / pi) (1 + 0.044715 x^2).
  const Pattern tanh_factored =
      op("tanh", {product_of(x, about(0.7978845608028654), op("add", {op("mul", {square_of(x), about(0.044715)}), one}))});
  const auto gelu = [&](const Pattern& inner) { return product_of(x, half, op("add", {inner, one})); };
  const Pattern wide = op("cast", {x}).or_shared().as("wide");
  return {
      {"narrow-activation", op("cast", {any_of({op("silu", {wide}), op("gelu", {wide})}).as("f")}), narrow},
      unary_rule("sigmoid", op("div", {one, one_and_exp}), "sigmoid"),
      unary_rule("silu", op("mul", {x, op("sigmoid", {x})}), "silu"),
      unary_rule("silu-quotient", op("div", {x, one_and_exp}), "silu"),
      unary_rule("relu", op("maximum", {x, number(0)}), "relu"),
      unary_rule("gelu", gelu(erf), "gelu"),
      unary_rule("gelu-tanh", gelu(tanh), "gelu", Gelu{.tanh = true}),
      unary_rule("gelu-tanh-factored", gelu(tanh_factored), "gelu", Gelu{.tanh = true}),
  };
}

}  // namespace headrace
