#include <cstring>
#include <map>

#include "compiler/passes/match.h"
#include "compiler/passes/passes.h"
#include "compiler/recognize/recognize.h"

namespace headrace {
namespace {

void merge_equal_constants(Graph& graph) {
  std::map<std::string, Value> seen;
  for (const Value& c : graph.leaves(Leaf::kConstant)) {
    const Tensor& t = c.constant().view();
    std::string key = c.type().to_string() + ":" + std::string(t.as<char>(), size_t(t.bytes()));
    const auto [it, is_new] = seen.emplace(std::move(key), c);
    if (!is_new) graph.replace_all_uses(c, it->second);
  }
}

// Moves what is known at load before everything else, keeping the order within.
void hoist_known(Graph& graph) {
  const std::vector<Node*> nodes = graph.nodes();
  if (nodes.empty()) return;
  Node* first_unknown = nullptr;
  for (Node* node : nodes) {
    if (!node->output().is_known_at_load()) {
      if (!first_unknown) first_unknown = node;
      continue;
    }
    if (!first_unknown) continue;
    graph.insert_before(first_unknown);
    const std::vector<Value> moved = graph.emit_all(node->op().name, node->attributes(), node->inputs());
    for (size_t i = 0; i < moved.size(); ++i) graph.replace_all_uses(node->outputs()[i], moved[i]);
    graph.erase(*node);
  }
  graph.insert_before(nullptr);
}

}  // namespace

void merge_equal_nodes(Graph& graph) {
  std::unordered_multimap<size_t, Node*> seen;
  for (Node* node : graph.nodes()) {
    if (node->op().writes_state) continue;
    size_t key = std::hash<std::string>()(node->op().name);
    for (const Value& in : node->inputs()) key = key * 31 + std::hash<Value>()(in);
    Node* twin = nullptr;
    for (auto [it, end] = seen.equal_range(key); it != end && !twin; ++it)
      if (&it->second->op() == &node->op() && it->second->inputs() == node->inputs() && it->second->attributes() == node->attributes())
        twin = it->second;
    if (!twin) {
      seen.emplace(key, node);
      continue;
    }
    for (size_t i = 0; i < node->outputs().size(); ++i) graph.replace_all_uses(node->outputs()[i], twin->outputs()[i]);
    graph.erase(*node);
  }
}

void canonicalize(Graph& graph, const CompileOptions&) {
  merge_equal_constants(graph);
  hoist_known(graph);
  merge_equal_nodes(graph);
  std::vector<Rule> rules = arrangement_rules();
  for (Rule& rule : arithmetic_rules()) rules.push_back(std::move(rule));
  apply_rules(graph, rules);
  graph.remove_dead();
}

void remove_dead(Graph& graph, const CompileOptions&) { graph.remove_dead(); }

}  // namespace headrace
