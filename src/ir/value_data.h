// What a Value points at, and when it is known at load. Internal to src/ir.
#pragma once

#include "headrace/graph.h"

namespace headrace::detail {

struct ValueData {
  Graph* graph = nullptr;
  std::string name;
  TensorType type;
  Leaf leaf = Leaf::kNone;
  Node* producer = nullptr;
  int output_index = 0;
  bool is_known_at_load = false;
  std::vector<Node*> users;
  HostTensor constant;
  std::list<std::unique_ptr<ValueData>>::iterator position;
};

// Whether the results of a node are known at load, by its operands.
bool follows_at_load(const Node& node);

}  // namespace headrace::detail
