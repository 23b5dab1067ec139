#include "engine/check_program.h"

#include "core/error.h"

namespace headrace {
namespace {

void check_state(const Value& kv, const std::string& where) {
  const Shape& shape = kv.shape();
  const auto known = [&](int axis, int64_t least, int64_t most) {
    return shape[axis].is_constant() && shape[axis].value() >= least && shape[axis].value() <= most;
  };
  if (shape.rank() != 5 || !known(1, 2, 2) || !known(2, 1, 1 << 16) || !known(4, 1, 1 << 16) || !is_float(kv.dtype()))
    invalid("{}: state '{}' is {}{}, wanted floats (num_blocks, 2, kv_heads, block_tokens, head_dim)", where, printable(kv.name()),
            name(kv.dtype()), shape.to_string());
}

// Operands that say where in memory something is.
struct Guide {
  std::string_view op;
  int operand;
  std::string_view input;
};
constexpr Guide kGuides[] = {
    {"attention", 3, "sequence_offsets"},
    {"paged_attention", 2, "sequence_offsets"},
    {"paged_attention", 3, "context_lengths"},
    {"paged_attention", 4, "block_tables"},
};

void check_guide(const Graph& program, const Node& node, const Guide& guide, const std::string& where) {
  const Value given = node.input(guide.operand), tokens = program.find(Leaf::kInput, "tokens");
  if (given.leaf() != Leaf::kInput || given.name() != guide.input)
    invalid("{}: operand {} of {} is '{}', the input '{}' is wanted", where, guide.operand, guide.op, printable(given.name()), guide.input);
  if (!tokens || tokens.shape().rank() != 1 || node.input(0).shape()[0] != tokens.shape()[0])
    invalid("{}: the queries of {} are {}, as many as the program's tokens are wanted", where, guide.op, node.input(0).shape().to_string());
}

}  // namespace

void check_program(const Graph& program, const std::string& where) {
  for (const Value& kv : program.leaves(Leaf::kState)) check_state(kv, where);
  for (const Node* node : program.nodes())
    for (const Guide& guide : kGuides)
      if (node->op().name == guide.op) check_guide(program, *node, guide, where);
}

}  // namespace headrace
