#include <cctype>

#include "ir/value_data.h"

namespace headrace {

std::vector<Value> Graph::inline_graph(const Graph& other, const std::unordered_map<std::string, Value>& leaves) {
  std::unordered_map<Value, Value> image;
  for (const auto& v : other.values_) {
    const Value value(v.get());
    if (v->leaf == Leaf::kNone) continue;
    if (const auto it = leaves.find(v->name); it != leaves.end()) image[value] = it->second;
    else if (v->leaf == Leaf::kConstant) image[value] = constant(v->constant, v->name);
    else image[value] = leaf(v->leaf, v->name, v->type, {});
  }
  for (const auto& node : other.nodes_) {
    std::vector<Value> inputs;
    for (const Value& in : node->inputs_) inputs.push_back(image.at(in));
    const std::vector<Value> outputs = emit_all(node->op().name, node->attributes_, std::move(inputs), node->where_);
    for (size_t i = 0; i < outputs.size(); ++i) {
      image[node->outputs_[i]] = outputs[i];
      const std::string& name = node->outputs_[i].name();
      if (!name.empty() && !std::isdigit(static_cast<unsigned char>(name[0]))) rename(outputs[i], name);
    }
  }
  std::vector<Value> results;
  for (const Output& o : other.outputs_) results.push_back(image.at(o.value));
  return results;
}

Graph Graph::clone() const {
  Graph copy(ops_, name_);
  const std::vector<Value> results = copy.inline_graph(*this, {});
  for (size_t i = 0; i < results.size(); ++i) copy.mark_output(results[i], outputs_[i].name);
  return copy;
}

}  // namespace headrace
