#include "ops/softmax/softmax.h"

#include "compiler/recognize/recognize.h"
#include "compiler/recognize/spellings.h"
#include "ops/reduce/reduce.h"

namespace headrace {
namespace {

// The one axis that a reduction is along, if it keeps it.
std::optional<int64_t> kept_axis(const Node& node) {
  const auto& r = node.attributes_as<Reduce>();
  const int rank = node.input(0).shape().rank();
  if (!r.keepdim) return std::nullopt;
  if (r.axes.empty() && rank == 1) return 0;
  if (r.axes.size() != 1) return std::nullopt;
  return r.axes[0] < 0 ? r.axes[0] + rank : r.axes[0];
}

std::vector<Value> rewrite(Graph& graph, const Match& m) {
  const std::optional<int64_t> axis = kept_axis(m.node("sum"));
  if (!axis || kept_axis(m.node("max")) != axis) return {};
  const int rank = m.root().shape().rank();
  const Softmax attributes{.axis = *axis == rank - 1 ? -1 : *axis};
  for (const char* name : {"x", "wide"})
    if (is_float(m[name].dtype()) && m[name].type() == m.root().type()) return {graph.emit("softmax", attributes, {m[name]})};
  return {};
}

// A cast of a softmax of a cast, back to the type before.
std::vector<Value> narrow(Graph& graph, const Match& m) {
  if (m["x"].type() != m.root().type() || m["wide"].dtype() != DType::kF32) return {};
  return {graph.emit("softmax", m.node("softmax").attributes(), {m["x"]})};
}

}  // namespace

std::vector<Rule> softmax_rules() {
  const Pattern x = maybe_wide(any("x"), "wide");
  // Without the maximum, powers may overflow: that means something else.
  const Pattern powers = op("exp", {op("sub", {x, op("max", {x}).as("max")})}).as("powers");
  return {
      {"softmax", op("div", {powers, op("sum", {powers}).as("sum")}), rewrite},
      {"softmax-narrow", op("cast", {op("softmax", {op("cast", {any("x")}).as("wide")}).as("softmax")}), narrow},
  };
}

}  // namespace headrace
