#include "debug/step_bytes.h"

namespace headrace {
namespace {

// A state, or one as a node before has left it in place.
bool is_state(Value value) {
  while (const Node* node = value.producer()) {
    if (node->op().in_place_operand < 0 || value.output_index() != 0) return false;
    value = node->input(node->op().in_place_operand);
  }
  return value.leaf() == Leaf::kState;
}

}  // namespace

int64_t step_bytes(const Node& node, const Launch& launch) {
  int64_t bytes = launch.kernel->held_bytes() + launch.kernel->state_bytes(launch);
  for (size_t i = 0; i < launch.inputs.size(); ++i) {
    const Value in = node.input(int(i));
    if (is_state(in) || (in.is_known_at_load() && !launch.kernel->reads_constants())) continue;
    const Tensor& read = int(i) == node.op().table_operand ? launch.outputs[0] : launch.inputs[i];
    bytes += storage_bytes(launch.inputs[i].dtype, read.numel());
  }
  for (size_t i = 0; i < launch.outputs.size(); ++i)
    if (!is_state(node.output(int(i)))) bytes += launch.outputs[i].bytes();
  return bytes;
}

}  // namespace headrace
