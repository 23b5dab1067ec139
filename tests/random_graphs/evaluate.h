// The meaning of a graph: every node by its op's reference, on the graph as it stands.
#pragma once

#include <functional>

#include "random_graphs/leaf_data.h"

namespace headrace::fuzzing {

// The results of one node. Throws Error(kInvalidArgument) for a size that is negative or too large.
std::vector<HostTensor> evaluate_node(const Node& node, std::span<const HostTensor> operands, const SymbolValues& symbols);

// Stands between a value and the node that reads it, or between a node and its result; changes what it likes.
struct Disturbance {
  std::function<HostTensor(const Node& reader, int operand, const HostTensor& value)> operand;
  std::function<void(const Node& node, std::span<const HostTensor> operands, std::vector<HostTensor>& results)> results;
};

// Outputs by name. `leaves` holds inputs and parameters.
Tensors evaluate_reference(const Graph& graph, const Tensors& leaves, const SymbolValues& symbols, const Disturbance& disturbance = {});

}  // namespace headrace::fuzzing
