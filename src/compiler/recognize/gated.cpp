#include "ops/gated/gated.h"

#include "compiler/recognize/recognize.h"
#include "compiler/recognize/spellings.h"
#include "ops/unary/unary.h"

namespace headrace {
namespace {

std::optional<Activation> activation_of(const Node& node) {
  if (node.op().name == "silu") return Activation::kSilu;
  if (node.op().name == "relu") return Activation::kRelu;
  if (node.op().name == "gelu") return node.attributes_as<Gelu>().tanh ? Activation::kGeluTanh : Activation::kGeluErf;
  return std::nullopt;
}

std::vector<Value> rewrite(Graph& graph, const Match& m) {
  const std::optional<Activation> activation = activation_of(m.node("activated"));
  const std::optional<LastRange> gate = last_range(m.node("gate")), up = last_range(m.node("up"));
  if (!activation || !gate || !up || gate->begin != 0 || up->begin != gate->end || up->end != 2 * gate->end) return {};
  if (m["x"].shape()[-1] != Dim(up->end)) return {};
  return {graph.emit("gated", Gated{.activation = *activation}, {m["x"]})};
}

}  // namespace

std::vector<Rule> gated_rules() {
  const Pattern gate = op("slice", {any("x")}).as("gate"), up = op("slice", {any("x")}).as("up");
  return {{"gated", op("mul", {any_of({op("silu", {gate}), op("gelu", {gate}), op("relu", {gate})}).as("activated"), up}), rewrite}};
}

}  // namespace headrace
