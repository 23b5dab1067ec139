#include "compiler/recognize/recognize.h"

#include "compiler/passes/passes.h"

namespace headrace {

void recognize(Graph& graph, const CompileOptions&) {
  graph.remove_dead();  // nobody else reads what only dead nodes read
  std::vector<Rule> rules;
  for (const auto& of :
       {arithmetic_rules, arrangement_rules, activation_rules, norm_rules, softmax_rules, attention_rules, rope_rules, gated_rules})
    for (Rule& rule : of()) rules.push_back(std::move(rule));
  apply_rules(graph, rules);
  merge_equal_nodes(graph);  // two spellings may have been one idea
}

}  // namespace headrace
