// Small questions that rewriting rules ask.
#pragma once

#include "headrace/graph.h"

namespace headrace {

inline bool is_op(const Node* node, std::string_view op) { return node && node->op().name == op; }
inline Node* producer_if(Value value, std::string_view op) { return is_op(value.producer(), op) ? value.producer() : nullptr; }
// Nobody else would miss the value if its only reader took it in.
inline bool has_one_reader(Value value) { return value.users().size() == 1 && !value.is_output(); }

}  // namespace headrace
