// Rotary embedding. Two spellings of the turn lead to one: x * cos + rotate_half(x) * sin becomes a concatenation of turned halves,
// and that, over (tokens, heads, head_dim), becomes rope with a table of cosines and sines; the table's own spelling becomes rope_table.
#include "ops/rope/rope.h"

#include "compiler/recognize/recognize.h"
#include "compiler/recognize/spellings.h"
#include "ops/concat/concat.h"
#include "ops/views/views.h"

namespace headrace {
namespace {

Value part(Graph& graph, Value x, int64_t begin, int64_t end) {
  if (begin == 0 && x.shape()[-1] == Dim(end)) return x;
  return graph.emit("slice", Slice{.axis = -1, .begin = begin, .end = end}, {x});
}
Value view(Graph& graph, Value x, Shape shape) { return x.shape() == shape ? x : graph.emit("view", View{.shape = std::move(shape)}, {x}); }

// What two equal halves side by side are made of: concat(a, a) -> a, and through functions and views of that.
Value half_of_twice(Graph& graph, Value twice) {
  const Pattern doubled = concat_of_last({any("half"), any("half")}).or_shared();
  if (const auto m = match(doubled, twice)) return (*m)["half"];
  for (const char* f : {"cos", "sin"})
    if (const auto m = match(op(f, {doubled}).or_shared(), twice)) return graph.emit(f, {(*m)["half"]});
  const auto m = match(op("view", {any("x")}).or_shared(), twice);
  if (!m || twice.shape()[-1] != (*m)["x"].shape()[-1]) return {};
  const Value half = half_of_twice(graph, (*m)["x"]);
  if (!half) return {};
  Shape shape = twice.shape();
  shape[-1] = half.shape()[-1];
  return view(graph, half, shape);
}

// x cos + concat(-x[h:], x[:h]) sin -> concat(x[:h] c - x[h:] s, x[h:] c + x[:h] s)
std::vector<Value> split_turn(Graph& graph, const Match& m) {
  const Value x = m["x"];
  if (x.shape().rank() == 0 || !x.shape()[-1].is_constant()) return {};
  const int64_t size = x.shape()[-1].value(), half = size / 2;
  if (last_range(m.node("low")) != LastRange{0, half} || last_range(m.node("high")) != LastRange{half, size}) return {};
  const Value cosine = half_of_twice(graph, m["cos"]), sine = half_of_twice(graph, m["sin"]);
  if (!cosine || !sine) return {};
  const Value low = part(graph, x, 0, half), high = part(graph, x, half, size);
  const auto mul = [&](Value u, Value v) { return graph.emit("mul", {u, v}); };
  return {graph.emit("concat", Concat{.axis = -1},
                     {graph.emit("sub", {mul(low, cosine), mul(high, sine)}), graph.emit("add", {mul(high, cosine), mul(low, sine)})})};
}

// rope of x (tokens, heads, head_dim) by cosines and sines that each token has for all its heads; nothing if these have other shapes.
Value emit_rope(Graph& graph, Value x, Value cosine, Value sine, int64_t half, bool interleaved) {
  const Shape& shape = x.shape();
  if (shape.rank() != 3 || !shape[1].is_constant() || !is_float(x.dtype()) || cosine.dtype() != DType::kF32 || sine.dtype() != DType::kF32)
    return {};
  const Shape angles{shape[0], half};
  for (const Value v : {cosine, sine}) {
    const Shape wanted = interleaved ? Shape{shape[0], 1, half, 1} : Shape{shape[0], 1, half};
    if (v.shape() != wanted) return {};
  }
  const Value table = graph.emit("concat", Concat{.axis = -1}, {view(graph, cosine, angles), view(graph, sine, angles)});
  const Value flat = view(graph, x, {shape[0], shape[1] * shape[2]});
  const Rope attributes{.head_dim = shape[2].value(), .interleaved = interleaved};
  return view(graph, graph.emit("rope", attributes, {flat, table}), shape);
}

std::vector<Value> rewrite_halves(Graph& graph, const Match& m) {
  Value x = m["x"];
  if (!x.shape()[-1].is_constant()) return {};
  const std::optional<LastRange> low = last_range(m.node("low")), high = last_range(m.node("high"));
  if (!low || !high || low->begin != 0 || high->begin != low->end || high->end != 2 * low->end) return {};
  const int64_t size = x.shape()[-1].value(), rotary = high->end;
  if (m.has("rest") ? last_range(m.node("rest")) != LastRange{rotary, size} : size != rotary) return {};
  const Value y = emit_rope(graph, x, m["c"], m["s"], rotary / 2, false);
  return y && y.type() == m.root().type() ? std::vector{y} : std::vector<Value>();
}

// Pairs of neighbours: x seen as (tokens, heads, half, 2).
std::vector<Value> rewrite_pairs(Graph& graph, const Match& m) {
  const Value pairs = m["x"];
  const Shape& shape = pairs.shape();
  if (shape.rank() != 4 || shape[3] != Dim(2) || !shape[2].is_constant() || m.root().type() != pairs.type()) return {};
  if (last_range(m.node("low")) != LastRange{0, 1} || last_range(m.node("high")) != LastRange{1, 2}) return {};
  const int64_t half = shape[2].value();
  const Value y = emit_rope(graph, view(graph, pairs, {shape[0], shape[1], Dim(2 * half)}), m["c"], m["s"], half, true);
  return y ? std::vector{view(graph, y, shape)} : std::vector<Value>();
}

// rope of a head's first elements, beside the others -> rope of the whole head.
std::vector<Value> widen_partial(Graph& graph, const Match& m) {
  const Value x = m["x"];
  const Shape& shape = x.shape();
  const Node& rope = m.node("rope");
  const Rope& attributes = rope.attributes_as<Rope>();
  if (shape.rank() != 3 || !shape[2].is_constant() || m.root().type() != x.type()) return {};
  const LastRange whole{0, attributes.head_dim};
  if (rope.input(1).shape()[1] != Dim(attributes.head_dim) || last_range(m.node("turned")) != whole) return {};
  if (last_range(m.node("rest")) != LastRange{attributes.head_dim, shape[2].value()} ||
      m["rope_view"].shape()[-1] != Dim(attributes.head_dim))
    return {};
  const Rope wider{.head_dim = shape[2].value(), .interleaved = attributes.interleaved};
  return {view(graph, graph.emit("rope", wider, {view(graph, x, {shape[0], shape[1] * shape[2]}), rope.input(1)}), shape)};
}

std::vector<Value> rewrite_table(Graph& graph, const Match& m) {
  const Value positions = m["positions"], inverse = m["inverse"];
  const auto is_row_of = [](const Shape& shape, const Dim& n) { return shape == Shape{n} || shape == Shape{1, n}; };
  const Shape& angles = m["cos"].shape();
  if (angles.rank() != 2 || inverse.dtype() != DType::kF32 || !is_row_of(inverse.shape(), angles[1])) return {};
  if (positions.dtype() != DType::kI32 || positions.shape().numel() != angles[0]) return {};
  if (m.root().shape() != Shape{angles[0], angles[1] * Dim(2)}) return {};
  return {graph.emit("rope_table", RopeTable{}, {view(graph, positions, {angles[0]}), view(graph, inverse, {angles[1]})})};
}

}  // namespace

std::vector<Rule> rope_rules() {
  const Pattern x = any("x"), c = any("c"), s = any("s");
  const auto slice_of = [](const Pattern& p, const char* name) { return op("slice", {p}).or_shared().as(name); };
  const auto mul = [](const Pattern& a, const Pattern& b) { return op("mul", {a, b}); };
  const Pattern low = slice_of(x, "low"), high = slice_of(x, "high"), rest = slice_of(x, "rest");
  const Pattern turned_low = op("sub", {mul(low, c), mul(high, s)}), turned_high = op("add", {mul(high, c), mul(low, s)});
  const Pattern positions = any_of({op("view", {any("positions")}).or_shared(), any("positions")});
  const Pattern angles = op("mul", {op("cast", {positions}).or_shared(), any("inverse")}).or_shared();
  const Pattern rope = op("rope", {op("view", {slice_of(x, "turned")}), any("table")}).as("rope");
  return {
      {"rope-split-turn", op("add", {mul(x, any("cos")), mul(concat_of_last({negative_of(high), low}), any("sin"))}), split_turn},
      {"rope-halves", concat_of_last({turned_low, turned_high}), rewrite_halves},
      {"rope-halves-partial", concat_of_last({turned_low, turned_high, rest}), rewrite_halves},
      {"rope-pairs", concat_of_last({turned_low, turned_high}), rewrite_pairs},
      {"rope-partial", concat_of_last({op("view", {rope}).as("rope_view"), rest}), widen_partial},
      {"rope-table", concat_of_last({op("cos", {angles}).as("cos"), op("sin", {angles})}), rewrite_table},
  };
}

}  // namespace headrace
