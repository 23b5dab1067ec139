#include "compiler/recognize/recognize.h"
#include "compiler/recognize/spellings.h"
#include "ops/layer_norm/layer_norm.h"
#include "ops/rms_norm/rms_norm.h"

namespace headrace {
namespace {

// "x" as it came or as it was widened, whichever has the result's type; nothing when neither has.
Value normed(const Match& m) {
  for (const char* name : {"x", "wide"})
    if (m[name].type() == m.root().type()) return m[name];
  return {};
}

bool is_vector(Value v, Value x) { return is_float(v.dtype()) && v.shape() == Shape{x.shape()[-1]}; }

// A vector, or offset + vector; either may have been cast.
Pattern weight() {
  const Pattern w = any_of({op("cast", {any("w")}).or_shared(), any("w")});
  return any_of({op("add", {w, number("offset")}).or_shared(), w});
}
float offset_of(const Match& m) { return m.has("offset") ? float(m.number("offset")) : 0.0f; }

Pattern with_eps(const Pattern& mean) { return op("add", {mean, number("eps")}); }

// centre / sqrt(variance + eps)
Pattern scaled(const Pattern& centre, const Pattern& variance) {
  return any_of({op("mul", {centre, reciprocal_root_of(with_eps(variance))}), op("div", {centre, op("sqrt", {with_eps(variance)})})});
}

std::vector<Value> rewrite_rms_norm(Graph& graph, const Match& m) {
  const Value x = normed(m);
  if (!x || !is_vector(m["w"], x)) return {};
  return {graph.emit("rms_norm", RmsNorm{.eps = float(m.number("eps")), .weight_offset = offset_of(m)}, {x, m["w"]})};
}

std::vector<Value> rewrite_layer_norm(Graph& graph, const Match& m) {
  const Value x = normed(m);
  if (!x) return {};
  return {graph.emit("layer_norm", LayerNorm{.eps = float(m.number("eps"))}, {x})};
}

// layer_norm without a weight, times one.
std::vector<Value> take_in_weight(Graph& graph, const Match& m) {
  const Node& norm = m.node("norm");
  const Value x = norm.input(0);
  if (norm.inputs().size() != 1 || !is_vector(m["w"], x) || m.root().type() != x.type()) return {};
  LayerNorm attributes = norm.attributes_as<LayerNorm>();
  attributes.weight_offset = offset_of(m);
  return {graph.emit("layer_norm", attributes, {x, m["w"]})};
}

std::vector<Value> take_in_bias(Graph& graph, const Match& m) {
  const Node& norm = m.node("norm");
  const Value x = norm.input(0);
  if (norm.inputs().size() != 2 || !is_vector(m["b"], x) || m.root().type() != x.type()) return {};
  return {graph.emit("layer_norm", norm.attributes(), {x, norm.input(1), m["b"]})};
}

// A cast of a norm of a cast, back to the type before: the norm of what was not widened.
std::vector<Value> narrow(Graph& graph, const Match& m) {
  const Node& norm = m.node("norm");
  std::vector<Value> operands = norm.inputs();
  const Node* widening = operands[0].producer();
  if (!widening || widening->op().name != "cast" || operands[0].dtype() != DType::kF32) return {};
  operands[0] = widening->input(0);
  if (operands[0].type() != m.root().type()) return {};
  return {graph.emit(norm.op().name, norm.attributes(), std::move(operands))};
}

}  // namespace

std::vector<Rule> norm_rules() {
  const Pattern x = maybe_wide(any("x"), "wide");
  const Pattern rms = scaled(x, mean_of(square_of(x)));
  const Pattern centred = op("sub", {x, mean_of(x)});
  const Pattern norm = op("layer_norm").as("norm");
  return {
      {"rms-norm", op("mul", {maybe_cast(rms), weight()}), rewrite_rms_norm, 2},
      {"layer-norm", scaled(centred, mean_of(square_of(centred))), rewrite_layer_norm, 2},
      {"layer-norm-weight", op("mul", {norm, weight()}), take_in_weight},
      {"layer-norm-bias", op("add", {norm, any_of({op("cast", {any("b")}).or_shared(), any("b")})}), take_in_bias},
      {"layer-norm-narrow", op("cast", {norm}), narrow},
      {"rms-norm-narrow", op("cast", {op("rms_norm").as("norm")}), narrow},
  };
}

}  // namespace headrace
