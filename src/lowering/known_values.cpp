#include "lowering/known_values.h"

#include "core/error.h"

namespace headrace {

// Without recursion, for graphs may be deep: what is wanted on a stack, its operands above it until they are there.
Constant KnownValues::get(Value value) {
  if (!value.is_known_at_load()) return {};
  std::vector<Value> wanted{value};
  while (!wanted.empty()) {
    const Value top = wanted.back();
    if (values_.count(top)) {
      wanted.pop_back();
    } else if (const Node* node = top.producer()) {
      const size_t before = wanted.size();
      for (const Value& in : node->inputs())
        if (!values_.count(in)) wanted.push_back(in);
      if (wanted.size() == before) evaluate(*node);
    } else {
      values_[top] = leaf(top);
    }
  }
  return values_.at(value);
}

Constant KnownValues::leaf(Value value) {
  if (value.leaf() == Leaf::kParameter) return parameters_.get(value.name());
  auto owner = std::make_shared<HostTensor>(value.constant());
  return {owner->view(), owner};
}

void KnownValues::evaluate(const Node& node) {
  std::vector<Tensor> inputs, outputs;
  std::vector<TensorType> types;
  std::vector<std::shared_ptr<HostTensor>> results;
  for (const Value& in : node.inputs()) {
    inputs.push_back(values_.at(in).tensor);
    types.push_back(in.type());
  }
  for (const Value& out : node.outputs()) {
    results.push_back(std::make_shared<HostTensor>(out.dtype(), out.shape().sizes()));
    outputs.push_back(*results.back());
  }
  node.op().reference({node.op(), node.attributes(), types}, inputs, outputs);
  for (size_t i = 0; i < results.size(); ++i) values_[node.output(int(i))] = {outputs[i], results[i]};
  done(node);
}

void KnownValues::done(const Node& node) {
  for (const Value& in : node.inputs()) {
    if (!in.is_known_at_load()) continue;
    if (++uses_done_[in] < in.users().size() || in.is_output()) continue;
    values_.erase(in);
    if (in.leaf() == Leaf::kParameter) parameters_.done_with(in.name());
  }
}

}  // namespace headrace
