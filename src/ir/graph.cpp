// Building: leaves, nodes, types, results. graph_rewriting.cpp changes what is there.
#include <algorithm>

#include "core/error.h"
#include "ir/value_data.h"

namespace headrace {

detail::ValueData& Value::data() const {
  if (!data_) invalid("an empty Value has no graph, name or type");
  return *data_;
}
Graph& Value::graph() const { return *data().graph; }
const std::string& Value::name() const { return data().name; }
const TensorType& Value::type() const { return data().type; }
Leaf Value::leaf() const { return data().leaf; }
Node* Value::producer() const { return data().producer; }
int Value::output_index() const { return data().output_index; }
bool Value::is_known_at_load() const { return data().is_known_at_load; }
const std::vector<Node*>& Value::users() const { return data().users; }
const HostTensor& Value::constant() const { return data().constant; }
bool Value::is_output() const {
  const auto& outputs = data().graph->outputs();
  return std::any_of(outputs.begin(), outputs.end(), [&](const Graph::Output& o) { return o.value == *this; });
}

std::vector<TensorType> types_of(const std::vector<Value>& values) {
  std::vector<TensorType> types;
  for (const Value& v : values) types.push_back(v.type());
  return types;
}

bool detail::follows_at_load(const Node& node) {
  return !node.op().writes_state && node.op().reference && !node.inputs().empty() &&
         std::all_of(node.inputs().begin(), node.inputs().end(), [](const Value& in) { return in.is_known_at_load(); }) &&
         std::all_of(node.outputs().begin(), node.outputs().end(), [](const Value& out) { return out.shape().is_constant(); });
}

Graph::Graph(std::shared_ptr<const OpRegistry> ops, std::string name) : ops_(std::move(ops)), name_(std::move(name)) {}
Graph::~Graph() = default;

Graph::Graph(Graph&& other) noexcept { *this = std::move(other); }

Graph& Graph::operator=(Graph&& other) noexcept {
  ops_ = std::move(other.ops_);
  name_ = std::move(other.name_);
  values_ = std::move(other.values_);
  by_name_ = std::move(other.by_name_);
  nodes_ = std::move(other.nodes_);
  outputs_ = std::move(other.outputs_);
  insertion_point_ = other.insertion_point_;
  next_number_ = other.next_number_;
  for (auto& v : values_) v->graph = this;
  for (auto& n : nodes_) n->graph_ = this;
  return *this;
}

std::string Graph::unique_name(std::string wanted) {
  if (!wanted.empty() && !by_name_.count(wanted)) return wanted;
  const std::string stem = wanted.empty() ? "" : wanted + "_";
  std::string name;
  do name = stem + std::to_string(next_number_++);
  while (by_name_.count(name));
  return name;
}

Value Graph::add_value(std::string name, TensorType type) {
  auto data = std::make_unique<detail::ValueData>();
  data->graph = this;
  data->name = unique_name(std::move(name));
  data->type = std::move(type);
  values_.push_back(std::move(data));
  values_.back()->position = std::prev(values_.end());
  const Value value(values_.back().get());
  by_name_[value.name()] = value;
  return value;
}

Value Graph::leaf(Leaf kind, std::string name, TensorType type, const std::source_location& where) {
  if (name.empty()) invalid("an input, parameter or state needs a name{}", at_place(where));
  if (const auto it = by_name_.find(name); it != by_name_.end() && it->second.leaf() == kind) {
    if (it->second.type() != type)
      invalid("'{}' was declared as {} and is now declared as {}{}", name, it->second.type().to_string(), type.to_string(),
              at_place(where));
    return it->second;
  } else if (it != by_name_.end()) {
    invalid("the name '{}' is taken by another kind of value{}", name, at_place(where));
  }
  const Value value = add_value(std::move(name), std::move(type));
  value.data_->leaf = kind;
  value.data_->is_known_at_load = kind == Leaf::kParameter;
  return value;
}

Value Graph::constant(HostTensor tensor, std::string name) {
  TensorType type{tensor.view().dtype, {}};
  for (int64_t size : tensor.view().sizes) type.shape.push_back(size);
  const Value value = add_value(std::move(name), std::move(type));
  value.data_->leaf = Leaf::kConstant;
  value.data_->is_known_at_load = true;
  value.data_->constant = std::move(tensor);
  return value;
}

Value Graph::find(Leaf kind, std::string_view name) const {
  const auto it = by_name_.find(std::string(name));
  return it != by_name_.end() && it->second.leaf() == kind ? it->second : Value();
}

std::vector<Value> Graph::leaves(Leaf kind) const {
  std::vector<Value> found;
  for (const auto& v : values_)
    if (v->leaf == kind) found.push_back(Value(v.get()));
  return found;
}

void Graph::set_type(Value leaf, TensorType type) {
  if (leaf.producer()) invalid("the type of '{}' follows from the node that produces it", leaf.name());
  leaf.data_->type = std::move(type);
}

void Graph::infer_types() {
  for (const auto& node : nodes_) {
    const std::vector<TensorType> inputs = types_of(node->inputs_);
    std::vector<TensorType> outputs = node->op_->infer({*node->op_, node->attributes_, inputs});
    for (size_t i = 0; i < node->outputs_.size(); ++i) node->outputs_[i].data_->type = std::move(outputs.at(i));
    const bool known = detail::follows_at_load(*node);
    for (const Value& out : node->outputs_) out.data_->is_known_at_load = known;
  }
}

std::vector<Value> Graph::emit_all(std::string_view op_name, Attributes attributes, std::vector<Value> inputs, std::source_location where) {
  if (where.line() == 0) return emit_checked(op_name, std::move(attributes), std::move(inputs), where);
  try {
    return emit_checked(op_name, std::move(attributes), std::move(inputs), where);
  } catch (const Error& e) {
    fail(e.code, "{}{}", e.what(), at_place(where));
  }
}

std::vector<Value> Graph::emit_checked(std::string_view op_name, Attributes attributes, std::vector<Value> inputs,
                                       const std::source_location& where) {
  const OpDef* op = ops_->find(op_name);
  if (!op) fail(ErrorCode::kNotFound, "graph '{}': there is no op '{}'", name_, printable(op_name));
  for (const Value& v : inputs) {
    if (!v) invalid("{}: operand {} is an empty Value", op_name, &v - inputs.data());
    if (v.data_->graph != this) invalid("{}: operand '{}' belongs to another graph", op_name, v.name());
    if (insertion_point_ && v.producer() && !is_before(*v.producer(), *insertion_point_))
      invalid("{}: operand '{}' is produced behind the place of insertion", op_name, v.name());
  }
  if (op->attributes && !attributes.type()) attributes = Attributes(op->attributes, {});
  if (op->attributes != attributes.type()) invalid("{}: attributes of another op's type", op_name);
  const int count = int(inputs.size());
  const std::vector<TensorType> input_types = types_of(inputs);
  const OpCall call{*op, attributes, input_types};
  if (count < op->min_inputs || count > op->max_inputs)
    call.reject(op->min_inputs == op->max_inputs ? fmt::format("wants {} operands, has {}", op->min_inputs, count)
                                                 : fmt::format("wants {} to {} operands, has {}", op->min_inputs, op->max_inputs, count));
  std::vector<TensorType> output_types = op->infer(call);

  auto node = std::make_unique<Node>();
  node->graph_ = this;
  node->op_ = op;
  node->where_ = where;
  node->attributes_ = std::move(attributes);
  node->inputs_ = std::move(inputs);
  for (const Value& v : node->inputs_) v.data_->users.push_back(node.get());
  for (size_t i = 0; i < output_types.size(); ++i) {
    const Value out = add_value("", std::move(output_types[i]));
    out.data_->producer = node.get();
    out.data_->output_index = int(i);
    node->outputs_.push_back(out);
  }
  const bool known = detail::follows_at_load(*node);
  for (const Value& out : node->outputs_) out.data_->is_known_at_load = known;
  std::vector<Value> outputs = node->outputs_;
  const auto at = nodes_.insert(insertion_point_ ? insertion_point_->position_ : nodes_.end(), std::move(node));
  (*at)->position_ = at;
  number(at);
  return outputs;
}

void Graph::insert_before(Node* node) { insertion_point_ = node; }

void Graph::insert_after(Node& node) {
  const auto next = std::next(node.position_);
  insertion_point_ = next == nodes_.end() ? nullptr : next->get();
}

// Between its neighbours' numbers; all are numbered anew, wide apart, when there is no room.
void Graph::number(std::list<std::unique_ptr<Node>>::iterator at) {
  constexpr int64_t kGap = int64_t{1} << 32;
  const int64_t before = at == nodes_.begin() ? 0 : (*std::prev(at))->order_;
  const int64_t after = std::next(at) == nodes_.end() ? before + 2 * kGap : (*std::next(at))->order_;
  (*at)->order_ = before + (after - before) / 2;
  if (after - before >= 2) return;
  int64_t order = 0;
  for (const auto& node : nodes_) node->order_ = order += kGap;
}

void Graph::mark_output(Value value, std::string name, std::source_location where) {
  if (!value) invalid("output '{}': the Value is empty{}", name, at_place(where));
  if (&value.graph() != this) invalid("output '{}': '{}' belongs to another graph{}", name, value.name(), at_place(where));
  for (const Output& o : outputs_)
    if (o.name == name) invalid("graph '{}' already has an output '{}'{}", name_, name, at_place(where));
  outputs_.push_back({std::move(name), value});
}

void Graph::rename(Value value, std::string name) {
  if (value.name() != name) rename(std::vector<Value>{value}, {std::move(name)});
}

void Graph::rename(const std::vector<Value>& values, const std::vector<std::string>& names) {
  for (const Value& value : values) by_name_.erase(value.name());
  for (size_t i = 0; i < values.size(); ++i) {
    values[i].data_->name = unique_name(names.at(i));
    by_name_[values[i].name()] = values[i];
  }
}

std::vector<Node*> Graph::nodes() const {
  std::vector<Node*> all;
  all.reserve(nodes_.size());
  for (const auto& node : nodes_) all.push_back(node.get());
  return all;
}

}  // namespace headrace
