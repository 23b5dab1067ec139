#include "compiler/passes/match.h"
#include "compiler/passes/passes.h"
#include "ops/index_select/index_select.h"

namespace headrace {
namespace {

// Moves one selection before the node that makes what it selects from. False when that node is not row-wise, or is wanted whole.
bool move_before_producer(Graph& graph, Node& select) {
  const Value whole = select.input(0), rows = select.input(1);
  Node* producer = whole.producer();
  if (select.attributes().as<IndexSelect>().axis != 0 || !producer || !producer->op().row_wise) return false;
  if (!has_one_reader(whole) || whole.is_known_at_load()) return false;
  if (whole.shape().rank() < 2 || whole.shape()[0].is_constant()) return false;  // as many rows as a weight, perhaps
  std::vector<Value> operands = producer->inputs();
  for (const Value& v : operands)
    if (!v.is_known_at_load() && (v.shape().rank() != whole.shape().rank() || v.shape()[0] != whole.shape()[0])) return false;
  graph.insert_before(&select);
  for (Value& v : operands)
    if (!v.is_known_at_load()) v = graph.emit("index_select", select.attributes(), {v, rows});
  const Value selected = graph.emit(producer->op().name, producer->attributes(), std::move(operands));
  graph.insert_before(nullptr);
  graph.replace_all_uses(select.output(), selected);
  graph.erase(select);
  graph.erase(*producer);
  return true;
}

}  // namespace

void select_rows_early(Graph& graph, const CompileOptions&) {
  for (bool changed = true; changed;) {
    changed = false;
    for (Node* node : graph.nodes()) {
      if (!is_op(node, "index_select") || !move_before_producer(graph, *node)) continue;
      merge_equal_nodes(graph);  // two readers of one value select the same rows of it
      changed = true;
      break;  // the list of nodes is another now
    }
  }
}

}  // namespace headrace
