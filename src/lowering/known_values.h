// Values known before a program runs: parameters, constants, and what is computed from such alone. Evaluated with the ops'
// references when first asked for, and let go when nobody will ask again.
#pragma once

#include <unordered_map>

#include "lowering/plan.h"

namespace headrace {

class KnownValues {
 public:
  explicit KnownValues(ParameterSource& parameters) : parameters_(parameters) {}

  // Null data when the value is not known before the program runs.
  Constant get(Value value);
  // `node` has been lowered: operands that no other node still wants are dropped.
  void done(const Node& node);

 private:
  Constant leaf(Value value);
  void evaluate(const Node& node);
  ParameterSource& parameters_;
  std::unordered_map<Value, Constant> values_;
  std::unordered_map<Value, size_t> uses_done_;
};

}  // namespace headrace
