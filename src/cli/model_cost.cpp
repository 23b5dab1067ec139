#include "cli/model_cost.h"

#include <algorithm>

#include "engine/inspect.h"

namespace headrace::cli {
namespace {

// A weight that is converted when it is packed is multiplied in its new type.
DType dtype_in_use(const Value& parameter) {
  for (const Node* user : parameter.users())
    if (user->op().name == "cast") return user->output().dtype();
  return parameter.dtype();
}

bool only_looked_up(const Value& parameter) {
  const auto& users = parameter.users();
  return std::all_of(users.begin(), users.end(), [&](const Node* user) {
    const int table = user->op().table_operand;
    return table >= 0 && user->input(table) == parameter;
  });
}

bool makes_logits(const Value& parameter) {
  for (const Node* user : parameter.users())
    for (const Value& result : user->outputs())
      if (result.is_output()) return true;
  return false;
}

}  // namespace

ModelCost cost_of(const Engine& engine) {
  ModelCost cost{.kv_bytes_per_token = kv_bytes_per_token(engine)};
  std::map<DType, int64_t> macs;
  for (const Value& p : engine.program.leaves(Leaf::kParameter)) {
    const int64_t n = p.shape().numel().value();
    cost.num_parameters += n;
    if (only_looked_up(p) || p.shape().rank() < 2) continue;
    (makes_logits(p) ? cost.logit_macs : cost.macs) += n;
    macs[dtype_in_use(p)] += n;
  }
  int64_t most = 0;
  for (const auto& [dtype, n] : macs)
    if (n > most) most = n, cost.dtype = dtype;
  if (engine.exact) cost.dtype = DType::kF32;
  return cost;
}

}  // namespace headrace::cli
