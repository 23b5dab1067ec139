// Graphs: what a model means, as nodes in SSA form. A graph prints to text and parses back unchanged.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "headrace/attributes.h"
#include "headrace/types.h"

namespace headrace {

class Graph;
class Node;
struct OpDef;

// Where a value without a producer comes from.
enum class Leaf {
  kNone,       // a node produces it
  kInput,      // given at each run
  kParameter,  // a weight, bound by its path in the checkpoint
  kState,      // memory that runs read and write: a KV cache
  kConstant,   // written in the graph itself
};

namespace detail {
struct ValueData;
}

// A handle to a value of a graph, valid while the value is in the graph.
class Value {
 public:
  Value() = default;
  explicit operator bool() const { return data_ != nullptr; }
  bool operator==(const Value&) const = default;

  Graph& graph() const;
  const std::string& name() const;
  const TensorType& type() const;
  const Shape& shape() const { return type().shape; }
  DType dtype() const { return type().dtype; }
  Leaf leaf() const;
  Node* producer() const;    // null for leaves
  int output_index() const;  // which of the producer's outputs
  // Every node that reads this value, once per operand that is this value.
  const std::vector<Node*>& users() const;
  bool is_output() const;  // of the graph
  // Known before the program runs: a parameter, a constant, or computed from such alone, by an op that has a reference, in sizes
  // that are numbers.
  bool is_known_at_load() const;
  const HostTensor& constant() const;  // of a kConstant leaf

 private:
  friend class Graph;
  friend class Node;
  friend struct std::hash<Value>;
  explicit Value(detail::ValueData* data) : data_(data) {}
  detail::ValueData& data() const;  // throws Error(kInvalidArgument) when the Value is empty
  detail::ValueData* data_ = nullptr;
};

std::vector<TensorType> types_of(const std::vector<Value>& values);

// One use of an op. Owned by its graph.
class Node {
 public:
  const OpDef& op() const { return *op_; }
  const Attributes& attributes() const { return attributes_; }
  template <typename T>
  const T& attributes_as() const {
    return attributes_.as<T>();
  }
  const std::vector<Value>& inputs() const { return inputs_; }
  const std::vector<Value>& outputs() const { return outputs_; }
  Value input(int i) const { return inputs_[i]; }
  Value output(int i = 0) const { return outputs_[i]; }
  Graph& graph() const { return *graph_; }
  // The line of the author's code that made the node; line() is 0 when nobody said.
  const std::source_location& where() const { return where_; }

 private:
  friend class Graph;
  Graph* graph_ = nullptr;
  const OpDef* op_ = nullptr;
  Attributes attributes_;
  std::vector<Value> inputs_, outputs_;
  std::source_location where_;
  std::list<std::unique_ptr<Node>>::iterator position_;
  int64_t order_ = 0;  // grows along the graph: see Graph::is_before
};

// Its line of the graph's text, without the types: "%y = softmax(%x) {axis=0}".
std::string to_text(const Node& node);

// An op applied to operands of given types: what shape rules and references look at.
struct OpCall {
  const OpDef& op;
  const Attributes& attributes;
  std::span<const TensorType> inputs;

  template <typename T>
  const T& as() const {
    return attributes.as<T>();
  }
  int num_inputs() const { return int(inputs.size()); }
  const TensorType& input(int i) const { return inputs[i]; }
  // Throws Error(kInvalidArgument): "rms_norm(f32[tokens, 64], f32[32]): <message>".
  [[noreturn]] void reject(const std::string& message) const;
  void want(bool condition, const std::string& message) const {
    if (!condition) reject(message);
  }
};

// A kind of node.
struct OpDef {
  std::string name;
  const AttributeType* attributes = nullptr;  // null when it has none
  int min_inputs = 0, max_inputs = 0;
  // The shape rule: the types of the outputs. Throws through OpCall::reject.
  std::function<std::vector<TensorType>(const OpCall&)> infer;
  // The meaning, slow and obvious: reads `inputs` (contiguous, host memory) and fills `outputs` (contiguous, allocated).
  std::function<void(const OpCall&, std::span<const Tensor> inputs, std::span<const Tensor> outputs)> reference;
  // A fused op spelt in plainer ops, emitted into `graph`; empty for plain ops.
  std::function<std::vector<Value>(Graph& graph, const Node& node, std::span<const Value> inputs)> decompose;
  // An op that only looks at its input's memory in another way: the output as a view of it, or nothing when the strides do not permit.
  std::function<std::optional<Tensor>(const OpCall&, const Tensor& input, const Sizes& output_sizes)> view;
  bool writes_state = false;  // has effects beyond its outputs: never removed, never merged
  int in_place_operand = -1;  // output 0 is this operand's memory, changed in place (a KV cache); -1: none
  int table_operand = -1;     // only rows of this operand are read, those that another names; -1: none
  bool pointwise = false;     // an element of its one output depends on the operands' elements at that place alone, after broadcasting
  bool commutative = false;   // of two operands, in any order
  // One output, of rank 2 or more, whose row i (along axis 0) depends on row i alone of the operands that have as many rows.
  bool row_wise = false;
  std::string plugin;  // the name of the plugin that it comes from; empty: none
};

// The ops that a graph may use. Filled by calls, then shared and unchanging.
class OpRegistry {
 public:
  // Throws Error(kInvalidArgument) when the name is taken.
  void add(OpDef op);
  const OpDef* find(std::string_view name) const;
  std::vector<std::string> names() const;  // sorted

 private:
  std::unordered_map<std::string, std::unique_ptr<OpDef>> ops_;
};

// Nodes in an order in which every value is produced before it is used. Not copyable: see clone.
class Graph {
 public:
  explicit Graph(std::shared_ptr<const OpRegistry> ops, std::string name = "graph");
  ~Graph();
  Graph(Graph&&) noexcept;
  Graph& operator=(Graph&&) noexcept;

  const std::string& name() const { return name_; }
  const OpRegistry& ops() const { return *ops_; }
  const std::shared_ptr<const OpRegistry>& shared_ops() const { return ops_; }

  // Leaves. An input, parameter or state that exists already under this name is returned; its type must be the same.
  Value input(std::string name, TensorType type, std::source_location where = std::source_location::current()) {
    return leaf(Leaf::kInput, std::move(name), std::move(type), where);
  }
  Value parameter(std::string path, TensorType type, std::source_location where = std::source_location::current()) {
    return leaf(Leaf::kParameter, std::move(path), std::move(type), where);
  }
  Value state(std::string name, TensorType type, std::source_location where = std::source_location::current()) {
    return leaf(Leaf::kState, std::move(name), std::move(type), where);
  }
  Value constant(HostTensor value, std::string name = "");
  Value find(Leaf kind, std::string_view name) const;  // a null Value when there is none
  std::vector<Value> leaves(Leaf kind) const;          // in order of creation
  void set_type(Value leaf, TensorType type);          // of a leaf; types of what follows are inferred anew by infer_types
  void infer_types();

  // Adds a node at the insertion point (the end, unless set otherwise) and returns its outputs. Throws Error(kInvalidArgument) when the
  // operands do not fit or stand behind that place; its message ends with the place in the author's code, if there is one: "... (at
  // my_model.cpp:42)".
  std::vector<Value> emit_all(std::string_view op, Attributes attributes, std::vector<Value> inputs, std::source_location where = {});
  Value emit(std::string_view op, Attributes attributes, std::vector<Value> inputs, std::source_location where = {}) {
    return emit_all(op, std::move(attributes), std::move(inputs), where)[0];
  }
  Value emit(std::string_view op, std::vector<Value> inputs) { return emit(op, Attributes(), std::move(inputs)); }
  void insert_before(Node* node);  // null: at the end
  void insert_after(Node& node);

  // Names a result; it survives all passes. An inner value may be marked, and one value under several names.
  // Throws Error(kInvalidArgument) for a name that is taken and for a value of another graph.
  void mark_output(Value value, std::string name, std::source_location where = std::source_location::current());
  struct Output {
    std::string name;
    Value value;
  };
  const std::vector<Output>& outputs() const { return outputs_; }
  void rename(Value value, std::string name);                                            // made unique
  void rename(const std::vector<Value>& values, const std::vector<std::string>& names);  // together: one may take another's old name

  // Rewriting. Throws Error(kInvalidArgument) when a value would be read before it is produced.
  // Outputs included. Nodes for which `keeps` is true go on reading `from`: what is put behind a value, for instance.
  void replace_all_uses(Value from, Value to, const std::function<bool(const Node&)>& keeps = {});
  void set_input(Node& node, int index, Value value);
  void erase(Node& node);  // its outputs must be without users
  // Erases nodes without effect on outputs or state, and leaves without users (inputs stay). Returns the number of nodes erased.
  int remove_dead();

  // Nodes in order; a snapshot that stays valid while nodes are added, not when they are erased.
  std::vector<Node*> nodes() const;
  int num_nodes() const { return int(nodes_.size()); }
  bool is_before(const Node& a, const Node& b) const { return a.order_ < b.order_; }

  // Throws Error(kInternal) that names what is broken: order, types, users, foreign values, duplicate names.
  void verify() const;
  std::string to_text() const;
  static Graph parse(std::string_view text, std::shared_ptr<const OpRegistry> ops);
  Graph clone() const;
  // Copies `other`'s nodes here; returns the images of its outputs. A leaf becomes what `leaves` has under its name, else a leaf here.
  std::vector<Value> inline_graph(const Graph& other, const std::unordered_map<std::string, Value>& leaves);

 private:
  friend class Value;
  Value leaf(Leaf kind, std::string name, TensorType type, const std::source_location& where);
  std::vector<Value> emit_checked(std::string_view op, Attributes attributes, std::vector<Value> inputs, const std::source_location& where);
  Value add_value(std::string name, TensorType type);
  std::string unique_name(std::string wanted);
  void drop_value(Value value);
  void drop_user(Value value, Node* node);
  void check_order(Value value, const Node& reader) const;
  void update_known(std::vector<Node*> changed);
  void number(std::list<std::unique_ptr<Node>>::iterator node);

  std::shared_ptr<const OpRegistry> ops_;
  std::string name_;
  std::list<std::unique_ptr<detail::ValueData>> values_;
  std::unordered_map<std::string, Value> by_name_;
  std::list<std::unique_ptr<Node>> nodes_;
  std::vector<Output> outputs_;
  Node* insertion_point_ = nullptr;
  int64_t next_number_ = 0;
};

}  // namespace headrace

template <>
struct std::hash<headrace::Value> {
  size_t operator()(const headrace::Value& v) const { return std::hash<const void*>()(v.data_); }
};
