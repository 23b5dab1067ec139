// Views, slices, casts and permutations that undo each other or change nothing.
#include "compiler/recognize/recognize.h"
#include "compiler/recognize/spellings.h"
#include "ops/views/views.h"

namespace headrace {
namespace {

std::vector<Value> forward_if_unchanged(Graph&, const Match& m) {
  return m.root().type() == m["x"].type() ? std::vector{m["x"]} : std::vector<Value>();
}

std::vector<Value> view_of_view(Graph& graph, const Match& m) { return {graph.emit("view", View{.shape = m.root().shape()}, {m["x"]})}; }

std::vector<Value> permute_of_permute(Graph& graph, const Match& m) {
  const auto& outer = m.root().producer()->attributes_as<Permute>().axes;
  const auto& inner = m.node("inner").attributes_as<Permute>().axes;
  const auto at = [&](int64_t axis) { return size_t(axis < 0 ? axis + int64_t(inner.size()) : axis); };
  Permute both;
  bool unchanged = true;
  for (size_t i = 0; i < outer.size(); ++i) {
    both.axes.push_back(int64_t(at(inner[at(outer[i])])));
    unchanged = unchanged && both.axes.back() == int64_t(i);
  }
  return {unchanged ? m["x"] : graph.emit("permute", both, {m["x"]})};
}

// concat(x[..., :k], x[..., k:]) -> x
std::vector<Value> join_slices(Graph&, const Match& m) {
  const std::optional<LastRange> low = last_range(m.node("low")), high = last_range(m.node("high"));
  if (!low || !high || low->begin != 0 || low->end != high->begin || m.root().type() != m["x"].type()) return {};
  return {m["x"]};
}

}  // namespace

std::vector<Rule> arrangement_rules() {
  const Pattern x = any("x");
  const Pattern low = op("slice", {x}).or_shared().as("low"), high = op("slice", {x}).or_shared().as("high");
  std::vector<Rule> rules{
      {"view-of-view", op("view", {op("view", {x}).or_shared()}), view_of_view, 2},
      {"permute-of-permute", op("permute", {op("permute", {x}).or_shared().as("inner")}), permute_of_permute},
      {"join-slices", concat_of_last({low, high}), join_slices, 3},
  };
  for (const char* same : {"view", "slice", "cast", "expand"})
    rules.push_back({std::string("unchanged-") + same, op(same, {x}), forward_if_unchanged, 3});
  return rules;
}

}  // namespace headrace
