#include "lowering/known_values.h"

#include "core/error.h"

namespace headrace {

bool KnownValues::is_known(Value value) {
  if (value.leaf() == Leaf::kParameter || value.leaf() == Leaf::kConstant) return true;
  const Node* node = value.producer();
  if (!node || node->op().writes_state || !node->op().reference || node->inputs().empty()) return false;
  for (const Value& in : node->inputs())
    if (!is_known(in)) return false;
  return true;
}

Constant KnownValues::get(Value value) {
  if (!is_known(value)) return {};
  if (const auto it = values_.find(value); it != values_.end()) return it->second;
  Constant constant;
  if (value.leaf() == Leaf::kConstant) {
    auto owner = std::make_shared<HostTensor>(value.constant());
    constant = {owner->view(), owner};
  } else if (value.leaf() == Leaf::kParameter) {
    constant = parameters_.get(value.name());
  } else {
    constant = evaluate(*value.producer(), value.output_index());
  }
  return values_[value] = std::move(constant);
}

Constant KnownValues::evaluate(const Node& node, int output) {
  std::vector<Constant> constants;
  std::vector<Tensor> inputs, outputs;
  std::vector<TensorType> types;
  std::vector<HostTensor> results;
  for (const Value& in : node.inputs()) {
    constants.push_back(get(in));
    inputs.push_back(constants.back().tensor);
    types.push_back(in.type());
  }
  for (const Value& out : node.outputs()) {
    Sizes sizes;
    for (const Dim& d : out.shape().dims()) sizes.push_back(d.value());
    results.emplace_back(out.dtype(), sizes);
    outputs.push_back(results.back());
  }
  node.op().reference({node.op(), node.attributes(), types}, inputs, outputs);
  done(node);
  auto owner = std::make_shared<HostTensor>(results[size_t(output)]);
  return {owner->view(), owner};
}

void KnownValues::done(const Node& node) {
  for (const Value& in : node.inputs()) {
    if (!is_known(in)) continue;
    const auto [it, is_new] = uses_left_.emplace(in, int(in.users().size()));
    if (--it->second > 0 || in.is_output()) continue;
    values_.erase(in);
    if (in.leaf() == Leaf::kParameter) parameters_.done_with(in.name());
  }
}

}  // namespace headrace
