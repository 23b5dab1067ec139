// What a Pattern is made of. Internal to src/ir.
#pragma once

#include "headrace/rewrite.h"

namespace headrace {

struct Pattern::Data {
  enum class Kind { kAny, kKnown, kNumber, kOp, kAnyOf } kind = Kind::kAny;
  std::string name;                              // captured as; empty: not
  std::optional<double> number;                  // of kNumber: the one that is wanted
  std::string op;                                // of kOp
  std::optional<std::vector<Pattern>> operands;  // of kOp; nothing: any
  std::vector<Pattern> alternatives;             // of kAnyOf
  int output = 0;                                // of kOp
  bool shared = false;                           // of kOp
  std::optional<Attributes> attributes;          // of kOp
  struct Condition {
    std::string wanted;
    std::function<bool(const Node&)> of_node;
    std::function<bool(Value)> of_value;
  };
  std::vector<Condition> conditions;
};

}  // namespace headrace
