// dequantize moves behind what only arranges elements, towards what computes with them: integers are arranged instead, a quarter of the
// bytes, and whoever computes may take the scale in.
#include <algorithm>

#include "compiler/recognize/recognize.h"
#include "ops/concat/concat.h"
#include "ops/quantize/quantize.h"
#include "ops/views/views.h"

namespace headrace {
namespace {

// What a dequantize has beside its integers, once these are arranged in another way.
struct Scales {
  explicit Scales(const Node& node) : attributes(node.attributes_as<Dequantize>()), values(node.inputs().begin() + 1, node.inputs().end()) {
    const int64_t rank = node.input(0).shape().rank();
    if (attributes.axis < 0) attributes.axis += rank;
  }
  int rank() const { return values[0].shape().rank(); }
  bool is_one_number() const { return values[0].shape().numel() == Dim(1); }
  bool is_along_axis() const { return rank() == 1 && !is_one_number(); }

  Value emit(Graph& graph, Value integers) const {
    std::vector<Value> operands{integers};
    operands.insert(operands.end(), values.begin(), values.end());
    Dequantize a = attributes;
    a.axis = is_along_axis() ? a.axis : -1;
    return graph.emit("dequantize", a, std::move(operands));
  }

  Dequantize attributes;
  std::vector<Value> values;  // the scale, and the zero point if there is one
};

std::vector<Value> behind_permute(Graph& graph, const Match& m) {
  const Node& permute = *m.root().producer();
  Permute axes = permute.attributes_as<Permute>();
  const int64_t rank = int64_t(axes.axes.size());
  for (int64_t& axis : axes.axes) axis = (axis + rank) % rank;
  Scales scales(m.node("dequantize"));
  const Value integers = graph.emit("permute", axes, {m.node("dequantize").input(0)});
  if (scales.is_along_axis())
    scales.attributes.axis = std::find(axes.axes.begin(), axes.axes.end(), scales.attributes.axis) - axes.axes.begin();
  else if (scales.rank() == rank && rank > 1)
    for (Value& v : scales.values) v = graph.emit("permute", axes, {v});
  return {scales.emit(graph, integers)};
}

std::vector<Value> behind_slice(Graph& graph, const Match& m) {
  const Node& dequantize = m.node("dequantize");
  Slice slice = m.root().producer()->attributes_as<Slice>();
  const int rank = m.root().shape().rank();
  if (slice.axis < 0) slice.axis += rank;
  Scales scales(dequantize);
  const Value integers = graph.emit("slice", slice, {dequantize.input(0)});
  for (Value& v : scales.values) {
    Slice own = slice;
    if (scales.is_along_axis() && slice.axis == scales.attributes.axis) own.axis = 0;
    else if (scales.is_one_number() || scales.rank() != rank || v.shape()[int(slice.axis)] == Dim(1)) continue;
    v = graph.emit("slice", own, {v});
  }
  return {scales.emit(graph, integers)};
}

// Of one scale for all elements only.
std::vector<Value> behind_arrangement(Graph& graph, const Match& m) {
  const Node &node = *m.root().producer(), &dequantize = m.node("dequantize");
  Scales scales(dequantize);
  if (!scales.is_one_number()) return {};
  for (Value& v : scales.values)
    if (v.shape().rank() != 0) v = graph.emit("view", View{}, {v});
  return {scales.emit(graph, graph.emit(node.op().name, node.attributes(), {dequantize.input(0)}))};
}

// Parts that share one scale.
std::vector<Value> behind_concat(Graph& graph, const Match& m) {
  const Node& concat = *m.root().producer();
  std::vector<Value> integers;
  const Node* first = nullptr;
  for (const Value& part : concat.inputs()) {
    const Node* node = part.producer();
    if (!node || node->op().name != "dequantize" || part.users().size() != 1 || part.is_output()) return {};
    if (!first) first = node;
    const bool same = node->attributes() == first->attributes() && node->input(0).dtype() == first->input(0).dtype() &&
                      std::equal(node->inputs().begin() + 1, node->inputs().end(), first->inputs().begin() + 1, first->inputs().end());
    if (!same || !Scales(*node).is_one_number()) return {};
    integers.push_back(node->input(0));
  }
  Scales scales(*first);
  for (Value& v : scales.values)
    if (v.shape().rank() != 0) v = graph.emit("view", View{}, {v});
  return {scales.emit(graph, graph.emit("concat", concat.attributes(), std::move(integers)))};
}

}  // namespace

std::vector<Rule> dequantize_rules() {
  const Pattern dequantize = op("dequantize").as("dequantize");
  return {
      {"dequantize-behind-permute", op("permute", {dequantize}), behind_permute},
      {"dequantize-behind-slice", op("slice", {dequantize}), behind_slice},
      {"dequantize-behind-view", op("view", {dequantize}), behind_arrangement},
      {"dequantize-behind-expand", op("expand", {dequantize}), behind_arrangement},
      {"dequantize-behind-concat", op("concat"), behind_concat},
  };
}

}  // namespace headrace
