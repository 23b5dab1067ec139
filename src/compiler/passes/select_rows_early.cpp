#include <algorithm>
#include <unordered_map>

#include "compiler/passes/match.h"
#include "compiler/passes/passes.h"
#include "ops/index_select/index_select.h"

namespace headrace {
namespace {

// The selection that every reader of `value` makes of it, if all make the same: of rows, by one list.
const Node* only_selection(Value value) {
  if (value.is_output() || value.users().empty()) return nullptr;
  const Node* first = value.users()[0];
  if (!is_op(first, "index_select") || first->attributes_as<IndexSelect>().axis != 0) return nullptr;
  for (const Node* user : value.users())
    if (!is_op(user, "index_select") || user->attributes() != first->attributes() || user->input(0) != value ||
        user->input(1) != first->input(1) || user->input(1) == value)
      return nullptr;
  return first;
}

bool makes_each_row_alone(const Node& node) {
  if (!node.op().row_wise || node.output().is_known_at_load()) return false;
  const Shape& whole = node.output().shape();
  if (whole.rank() < 2 || whole[0].is_constant()) return false;  // as many rows as a weight, perhaps
  return std::all_of(node.inputs().begin(), node.inputs().end(), [&](const Value& in) {
    return in.is_known_at_load() || (in.shape().rank() == whole.rank() && in.shape()[0] == whole[0]);
  });
}

// Replaces `node` and the selections of its result by the node over selections of its operands. Returns the new node.
Node* move_selection_before(Graph& graph, Node& node, const Node& selection) {
  const Attributes attributes = selection.attributes();
  const Value rows = selection.input(1);
  std::vector<Value> operands = node.inputs();
  graph.insert_before(&node);
  for (Value& in : operands)
    if (!in.is_known_at_load()) in = graph.emit("index_select", attributes, {in, rows});
  const Value selected = graph.emit(node.op().name, node.attributes(), std::move(operands));
  graph.insert_before(nullptr);
  const std::vector<Node*> selections = node.output().users();
  for (Node* s : selections) {
    graph.replace_all_uses(s->output(), selected);
    graph.erase(*s);
  }
  graph.erase(node);
  return selected.producer();
}

}  // namespace

// From the last node to the first: when a node's turn comes, all that reads its result has had its own.
void select_rows_early(Graph& graph, const CompileOptions&) {
  const std::vector<Node*> nodes = graph.nodes();
  std::unordered_map<Value, size_t> made_by;  // index of the node
  for (size_t i = 0; i < nodes.size(); ++i)
    for (const Value& out : nodes[i]->outputs()) made_by[out] = i;
  const auto is_there_at = [&](size_t i, Value rows) { return !rows.producer() || made_by.at(rows) < i; };

  bool changed = false;
  for (size_t i = nodes.size(); i-- > 0;) {
    Node* node = nodes[i];
    while (makes_each_row_alone(*node)) {
      const Node* selection = only_selection(node->output());
      if (!selection || !is_there_at(i, selection->input(1))) break;
      node = move_selection_before(graph, *node, *selection);
      changed = true;
    }
  }
  if (changed) merge_equal_nodes(graph);  // readers of one value that select the same rows of it
}

}  // namespace headrace
