#include <unordered_set>

#include "core/error.h"
#include "ir/value_data.h"

namespace headrace {

void Graph::verify() const {
  const auto broken = [&](const std::string& what) { fail(ErrorCode::kInternal, "graph '{}' is broken: {}", name_, what); };
  std::unordered_set<Value> defined;
  std::unordered_map<Value, int> uses;
  for (const auto& v : values_) {
    const Value value(v.get());
    if (v->graph != this) broken(fmt::format("value '{}' belongs to another graph", v->name));
    if ((v->leaf == Leaf::kNone) != (v->producer != nullptr)) broken(fmt::format("value '{}' is neither leaf nor result", v->name));
    const auto it = by_name_.find(v->name);
    if (it == by_name_.end() || it->second != value) broken(fmt::format("the name '{}' is not unique", v->name));
    if (v->leaf != Leaf::kNone) defined.insert(value);
  }
  for (const auto& node : nodes_) {
    for (const Value& in : node->inputs_) {
      if (!defined.count(in)) broken(fmt::format("{} reads '{}' before it is produced", node->op().name, in.name()));
      ++uses[in];
    }
    const std::vector<TensorType> inputs = types_of(node->inputs_);
    const std::vector<TensorType> types = node->op_->infer({*node->op_, node->attributes_, inputs});
    if (types != types_of(node->outputs_))
      broken(fmt::format("the types of {}'s results do not follow from its operands", node->op().name));
    for (const Value& out : node->outputs_) {
      if (out.is_known_at_load() != detail::follows_at_load(*node))
        broken(fmt::format("whether '{}' is known at load does not follow from its operands", out.name()));
      defined.insert(out);
    }
  }
  for (const auto& v : values_)
    if (int(v->users.size()) != uses[Value(v.get())]) broken(fmt::format("the list of users of '{}' is wrong", v->name));
  for (const Output& o : outputs_)
    if (!defined.count(o.value)) broken(fmt::format("output '{}' is not produced", o.name));
}

}  // namespace headrace
