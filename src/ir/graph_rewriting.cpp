// Changing a graph that is there: uses, operands, nodes that go.
#include <algorithm>
#include <unordered_set>

#include "core/error.h"
#include "ir/value_data.h"

namespace headrace {

// Carries to everything behind what has become known at load by a change of operands, or is no longer.
void Graph::update_known(std::vector<Node*> changed) {
  while (!changed.empty()) {
    Node* node = changed.back();
    changed.pop_back();
    const bool known = detail::follows_at_load(*node);
    for (const Value& out : node->outputs_) {
      if (out.data_->is_known_at_load == known) continue;
      out.data_->is_known_at_load = known;
      changed.insert(changed.end(), out.users().begin(), out.users().end());
    }
  }
}

void Graph::drop_user(Value value, Node* node) {
  auto& users = value.data_->users;
  users.erase(std::find(users.begin(), users.end(), node));
}

void Graph::replace_all_uses(Value from, Value to, const std::function<bool(const Node&)>& keeps) {
  if (from == to) return;
  if (from.data_->graph != this || to.data_->graph != this) invalid("'{}' or '{}' belongs to another graph", from.name(), to.name());
  for (const Node* user : from.data_->users)
    if (!keeps || !keeps(*user)) check_order(to, *user);
  const std::vector<Node*> changed = from.is_known_at_load() == to.is_known_at_load() ? std::vector<Node*>() : from.users();
  std::vector<Node*> kept;
  for (Node* user : from.data_->users) {
    if (keeps && keeps(*user)) {
      kept.push_back(user);
      continue;
    }
    for (Value& input : user->inputs_)
      if (input == from) {
        input = to;
        to.data_->users.push_back(user);
        break;  // one operand for each entry in users
      }
  }
  from.data_->users = std::move(kept);
  for (Output& o : outputs_)
    if (o.value == from) o.value = to;
  update_known(changed);
}

// Values are produced before they are read.
void Graph::check_order(Value value, const Node& reader) const {
  const Node* producer = value.producer();
  if (producer && !is_before(*producer, reader))
    invalid("'{}' cannot be read by {}: it is produced {}", value.name(), headrace::to_text(reader),
            producer == &reader ? "by that node itself" : "later");
}

void Graph::set_input(Node& node, int index, Value value) {
  if (value.data_->graph != this) invalid("'{}' belongs to another graph", value.name());
  check_order(value, node);
  drop_user(node.inputs_[index], &node);
  node.inputs_[index] = value;
  value.data_->users.push_back(&node);
  update_known({&node});
}

void Graph::drop_value(Value value) {
  by_name_.erase(value.name());
  values_.erase(value.data_->position);
}

void Graph::erase(Node& node) {
  for (const Value& out : node.outputs_)
    if (!out.users().empty() || out.is_output())
      fail(ErrorCode::kInternal, "{}: its result '{}' is still in use", node.op().name, out.name());
  for (const Value& in : node.inputs_) drop_user(in, &node);
  for (const Value& out : node.outputs_) drop_value(out);
  if (insertion_point_ == &node) insertion_point_ = nullptr;
  nodes_.erase(node.position_);
}

int Graph::remove_dead() {
  std::unordered_set<Value> wanted;
  for (const Output& o : outputs_) wanted.insert(o.value);
  int removed = 0;
  for (auto it = nodes_.end(); it != nodes_.begin();) {  // backwards, so that users go before producers
    Node& node = **--it;
    const bool live = node.op().writes_state || std::any_of(node.outputs_.begin(), node.outputs_.end(),
                                                            [&](Value v) { return !v.users().empty() || wanted.count(v); });
    if (live) continue;
    ++it;  // erase invalidates the node's own position only
    erase(node);
    ++removed;
  }
  for (auto it = values_.begin(); it != values_.end();) {
    const Value value((it++)->get());
    if (value.leaf() != Leaf::kNone && value.leaf() != Leaf::kInput && value.users().empty() && !wanted.count(value)) drop_value(value);
  }
  return removed;
}

}  // namespace headrace
