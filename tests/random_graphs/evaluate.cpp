#include "random_graphs/evaluate.h"

#include "core/dtype.h"
#include "core/error.h"
#include "lowering/symbols.h"

namespace headrace::fuzzing {

std::vector<HostTensor> evaluate_node(const Node& node, std::span<const HostTensor> operands, const SymbolValues& symbols) {
  std::vector<HostTensor> results;
  std::vector<Tensor> in(operands.begin(), operands.end()), out;
  for (const Value& v : node.outputs()) {
    const Sizes sizes = evaluate(v.shape(), symbols);
    for (const int64_t size : sizes)
      if (size < 0) invalid("{}: the result's size is {}", node.op().name, sizes.to_string());
    if (!checked_bytes(v.dtype(), sizes)) invalid("{}: the result {} is too large", node.op().name, sizes.to_string());
    out.push_back(results.emplace_back(v.dtype(), sizes));
  }
  const std::vector<TensorType> types = types_of(node.inputs());
  node.op().reference({node.op(), node.attributes(), types}, in, out);
  return results;
}

Tensors evaluate_reference(const Graph& graph, const Tensors& leaves, const SymbolValues& symbols, const Disturbance& disturbance) {
  std::unordered_map<Value, HostTensor> values;
  const auto value_of = [&](Value v) -> const HostTensor& {
    if (v.leaf() == Leaf::kConstant) return v.constant();
    return v.leaf() == Leaf::kNone ? values.at(v) : leaves.at(v.name());
  };
  for (const Node* node : graph.nodes()) {
    std::vector<HostTensor> operands;
    for (int i = 0; i < int(node->inputs().size()); ++i) {
      const HostTensor& value = value_of(node->input(i));
      operands.push_back(disturbance.operand ? disturbance.operand(*node, i, value) : value);
    }
    std::vector<HostTensor> results = evaluate_node(*node, operands, symbols);
    if (disturbance.results) disturbance.results(*node, operands, results);
    for (size_t i = 0; i < results.size(); ++i) values[node->outputs()[i]] = std::move(results[i]);
  }
  Tensors outputs;
  for (const Graph::Output& o : graph.outputs()) outputs.emplace(o.name, value_of(o.value));
  return outputs;
}

}  // namespace headrace::fuzzing
