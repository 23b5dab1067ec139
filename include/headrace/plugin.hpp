// plugin.h, pleasant to use from C++17: values instead of handles with a context, exceptions instead of statuses (none crosses the border),
// classes for kernels and processors. Header only, over the C interface alone: a plugin that uses it links nothing of Headrace's.
//
//   extern "C" uint32_t headrace_plugin_abi_version() { return HEADRACE_PLUGIN_ABI; }
//   extern "C" headrace_status headrace_plugin_init(headrace_context* context, headrace_registrar* registrar) {
//     return headrace::plugin::init(context, registrar, [](headrace::plugin::Registrar& to) {
//       to.describe("twice", "1.0");
//       to.add(headrace::plugin::Op{"twice", {}, 1, infer, reference});
//     });
//   }
//
// Objects of these classes are valid as long as the callback that they were made in.
#pragma once

#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "headrace/plugin.h"

namespace headrace::plugin {

// What host functions throw here, and what a plugin may throw to choose the status; any other exception becomes HEADRACE_INTERNAL.
struct Error : std::runtime_error {
  Error(headrace_status status, const std::string& message) : std::runtime_error(message), status(status) {}
  headrace_status status;
};

inline void check(headrace_context* context, headrace_status status) {
  if (status != HEADRACE_OK) throw Error(status, context->host->message(context));
}

// Runs what is inside a callback: what it throws becomes the callback's message and status.
template <typename Body>
headrace_status guard(headrace_context* context, Body&& body) noexcept {
  try {
    body();
    return HEADRACE_OK;
  } catch (const Error& e) {
    return context->host->fail(context, e.status, e.what());
  } catch (const std::bad_alloc&) {
    return context->host->fail(context, HEADRACE_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception& e) {
    return context->host->fail(context, HEADRACE_INTERNAL, e.what());
  } catch (...) {
    return context->host->fail(context, HEADRACE_INTERNAL, "threw what is no std::exception");
  }
}

// ---------------------------------------------------------------------------------------------------------------- types

class Dim {
 public:
  Dim(headrace_context* context, const headrace_dim* handle) : context_(context), handle_(handle) {}
  Dim(headrace_context* context, int64_t value) : context_(context) { check(context, host().dim_number(context, value, &handle_)); }
  const headrace_dim* handle() const { return handle_; }

  bool is_number() const { return host().dim_is_number(context_, handle_); }
  int64_t value() const {
    int64_t value = 0;
    check(context_, host().dim_value(context_, handle_, &value));
    return value;
  }
  std::string text() const {
    const char* text = nullptr;
    check(context_, host().dim_text(context_, handle_, &text));
    return text;
  }
  friend Dim operator+(const Dim& a, const Dim& b) { return a.with(&headrace_host::dim_add, b); }
  friend Dim operator-(const Dim& a, const Dim& b) { return a.with(&headrace_host::dim_subtract, b); }
  friend Dim operator*(const Dim& a, const Dim& b) { return a.with(&headrace_host::dim_multiply, b); }
  friend Dim operator/(const Dim& a, const Dim& b) { return a.with(&headrace_host::dim_divide, b); }
  friend Dim operator*(const Dim& a, int64_t b) { return a * Dim(a.context_, b); }
  friend Dim operator/(const Dim& a, int64_t b) { return a / Dim(a.context_, b); }
  friend Dim operator+(const Dim& a, int64_t b) { return a + Dim(a.context_, b); }
  friend bool operator==(const Dim& a, const Dim& b) { return a.host().dim_equal(a.context_, a.handle_, b.handle_); }
  friend bool operator!=(const Dim& a, const Dim& b) { return !(a == b); }
  friend bool operator==(const Dim& a, int64_t b) { return a.is_number() && a.value() == b; }
  friend bool operator!=(const Dim& a, int64_t b) { return !(a == b); }

 private:
  using Binary = headrace_status (*headrace_host::*)(headrace_context*, const headrace_dim*, const headrace_dim*, const headrace_dim**);
  const headrace_host& host() const { return *context_->host; }
  Dim with(Binary function, const Dim& other) const {
    const headrace_dim* to = nullptr;
    check(context_, (host().*function)(context_, handle_, other.handle_, &to));
    return {context_, to};
  }
  headrace_context* context_;
  const headrace_dim* handle_ = nullptr;
};

struct Type {
  headrace_dtype dtype = HEADRACE_F32;
  std::vector<Dim> dims;

  Type(headrace_dtype type, std::vector<Dim> sizes) : dtype(type), dims(std::move(sizes)) {}
  Type(headrace_context* context, const headrace_type& c) : dtype(c.dtype) {
    for (uint32_t i = 0; i < c.rank; ++i) dims.emplace_back(context, c.dims[i]);
  }
  int rank() const { return int(dims.size()); }
  const Dim& operator[](int axis) const { return dims.at(size_t(axis < 0 ? axis + rank() : axis)); }
  headrace_type c() const {
    if (rank() > HEADRACE_MAX_RANK) throw Error(HEADRACE_INVALID_ARGUMENT, "a rank above " + std::to_string(HEADRACE_MAX_RANK));
    headrace_type type{dtype, uint32_t(rank()), {}};
    for (int i = 0; i < rank(); ++i) type.dims[i] = dims[size_t(i)].handle();
    return type;
  }
  friend bool operator==(const Type& a, const Type& b) { return a.dtype == b.dtype && a.dims == b.dims; }
  friend bool operator!=(const Type& a, const Type& b) { return !(a == b); }
};

struct Tensor : headrace_tensor {
  Tensor(const headrace_tensor& c) : headrace_tensor(c) {}  // NOLINT: it is one
  template <typename T>
  T* as() const {
    return static_cast<T*>(data);
  }
  int64_t size(int axis) const { return sizes[axis < 0 ? axis + int(rank) : axis]; }
  int64_t stride(int axis) const { return strides[axis < 0 ? axis + int(rank) : axis]; }
  int64_t numel() const {
    int64_t n = 1;
    for (uint32_t i = 0; i < rank; ++i) n *= sizes[i];
    return n;
  }
};

class Tensors {
 public:
  Tensors(const headrace_tensor* first, size_t count) : first_(first), count_(count) {}
  Tensor operator[](size_t i) const { return first_[i]; }
  size_t size() const { return count_; }

 private:
  const headrace_tensor* first_;
  size_t count_;
};

// ---------------------------------------------------------------------------------------------------------------- attributes

class Attributes {
 public:
  Attributes(headrace_context* context, const headrace_attributes* handle) : context_(context), handle_(handle) {}

  // T: bool, int64_t, double, std::string, std::vector<int64_t>, std::vector<float>. Of an enum its word is the string.
  template <typename T>
  T get(const char* name) const {
    const headrace_host& host = *context_->host;
    if constexpr (std::is_same_v<T, bool>) {
      int32_t value = 0;
      check(context_, host.attribute_bool(context_, handle_, name, &value));
      return value != 0;
    } else if constexpr (std::is_integral_v<T>) {
      int64_t value = 0;
      check(context_, host.attribute_int(context_, handle_, name, &value));
      return T(value);
    } else if constexpr (std::is_floating_point_v<T>) {
      double value = 0;
      check(context_, host.attribute_float(context_, handle_, name, &value));
      return T(value);
    } else if constexpr (std::is_same_v<T, std::string>) {
      const char* value = nullptr;
      check(context_, host.attribute_string(context_, handle_, name, &value));
      return value;
    } else if constexpr (std::is_same_v<T, std::vector<int64_t>>) {
      const int64_t* values = nullptr;
      size_t count = 0;
      check(context_, host.attribute_ints(context_, handle_, name, &values, &count));
      return {values, values + count};
    } else {
      static_assert(std::is_same_v<T, std::vector<float>>, "attributes are bool, int64_t, double, std::string, lists of int64_t or float");
      const float* values = nullptr;
      size_t count = 0;
      check(context_, host.attribute_floats(context_, handle_, name, &values, &count));
      return {values, values + count};
    }
  }
  headrace_dtype dtype(const char* name) const {
    headrace_dtype value = 0;
    check(context_, context_->host->attribute_dtype(context_, handle_, name, &value));
    return value;
  }
  // As graphs spell it: what an Attribute of another node takes.
  std::string text(const char* name) const {
    const char* value = nullptr;
    check(context_, context_->host->attribute_text(context_, handle_, name, &value));
    return value;
  }

 private:
  headrace_context* context_;
  const headrace_attributes* handle_;
};

// For Graph::emit.
struct Attribute {
  std::string name, text;
  Attribute(std::string n, const std::string& spelt) : name(std::move(n)), text(spelt) {}
  Attribute(std::string n, const char* spelt) : name(std::move(n)), text(spelt) {}
  Attribute(std::string n, bool value) : name(std::move(n)), text(value ? "true" : "false") {}
  Attribute(std::string n, int value) : name(std::move(n)), text(std::to_string(value)) {}
  Attribute(std::string n, int64_t value) : name(std::move(n)), text(std::to_string(value)) {}
  Attribute(std::string n, double value) : name(std::move(n)) {
    char digits[40];
    std::snprintf(digits, sizeof digits, "%.17g", value);
    text = digits;
  }
  Attribute(std::string n, const std::vector<int64_t>& values) : name(std::move(n)) {
    for (int64_t v : values) text += (text.empty() ? "" : ", ") + std::to_string(v);
    text = "[" + text + "]";
  }
};

// An op applied to operands.
class Call {
 public:
  Call(headrace_context* context, const headrace_call& c) : context_(context), c_(&c) {}
  int num_inputs() const { return int(c_->num_inputs); }
  Type input(int i) const { return {context_, c_->inputs[i]}; }
  Type output(int i) const { return {context_, c_->outputs[i]}; }
  Attributes attributes() const { return {context_, c_->attributes}; }
  Dim number(int64_t value) const { return {context_, value}; }
  headrace_context* context() const { return context_; }
  // In a shape rule: the operands do not fit.
  void want(bool condition, const std::string& message) const {
    if (!condition) throw Error(HEADRACE_INVALID_ARGUMENT, message);
  }

 private:
  headrace_context* context_;
  const headrace_call* c_;
};

// ---------------------------------------------------------------------------------------------------------------- graphs

class Node;

class Value {
 public:
  Value(headrace_context* context, headrace_value* handle) : context_(context), handle_(handle) {}
  headrace_value* handle() const { return handle_; }
  explicit operator bool() const { return handle_ != nullptr; }
  friend bool operator==(const Value& a, const Value& b) { return a.handle_ == b.handle_; }
  friend bool operator!=(const Value& a, const Value& b) { return a.handle_ != b.handle_; }

  std::string name() const { return host().value_name(context_, handle_); }
  Type type() const {
    headrace_type type;
    check(context_, host().value_type(context_, handle_, &type));
    return {context_, type};
  }
  headrace_leaf leaf() const { return host().value_leaf(context_, handle_); }
  bool is_output() const { return host().value_is_output(context_, handle_); }
  bool is_known() const { return host().value_is_known(context_, handle_); }
  inline Node producer() const;  // false for a leaf
  inline std::vector<Node> users() const;

 private:
  const headrace_host& host() const { return *context_->host; }
  headrace_context* context_;
  headrace_value* handle_;
};

class Node {
 public:
  Node(headrace_context* context, headrace_node* handle) : context_(context), handle_(handle) {}
  headrace_node* handle() const { return handle_; }
  explicit operator bool() const { return handle_ != nullptr; }
  bool is(const char* op) const { return handle_ && std::strcmp(host().node_op(context_, handle_), op) == 0; }
  std::string op() const { return host().node_op(context_, handle_); }
  Attributes attributes() const { return {context_, host().node_attributes(context_, handle_)}; }
  int num_inputs() const { return int(host().node_num_inputs(context_, handle_)); }
  int num_outputs() const { return int(host().node_num_outputs(context_, handle_)); }
  Value input(int i) const { return {context_, host().node_input(context_, handle_, uint32_t(i))}; }
  Value output(int i = 0) const { return {context_, host().node_output(context_, handle_, uint32_t(i))}; }

 private:
  const headrace_host& host() const { return *context_->host; }
  headrace_context* context_;
  headrace_node* handle_;
};

inline Node Value::producer() const { return {context_, host().value_producer(context_, handle_)}; }
inline std::vector<Node> Value::users() const {
  headrace_node* const* handles = nullptr;
  size_t count = 0;
  check(context_, host().value_users(context_, handle_, &handles, &count));
  std::vector<Node> users;
  for (size_t i = 0; i < count; ++i) users.emplace_back(context_, handles[i]);
  return users;
}

class Graph {
 public:
  Graph(headrace_context* context, headrace_graph* handle) : context_(context), handle_(handle) {}
  headrace_context* context() const { return context_; }

  std::vector<Node> nodes() const {
    headrace_node* const* handles = nullptr;
    size_t count = 0;
    check(context_, host().graph_nodes(context_, handle_, &handles, &count));
    std::vector<Node> nodes;
    for (size_t i = 0; i < count; ++i) nodes.emplace_back(context_, handles[i]);
    return nodes;
  }
  Value find(headrace_leaf kind, const std::string& name) const {
    headrace_value* value = nullptr;
    check(context_, host().graph_find(context_, handle_, kind, name.c_str(), &value));
    return {context_, value};
  }
  std::string text() const {
    const char* text = nullptr;
    check(context_, host().graph_text(context_, handle_, &text));
    return text;
  }

  Dim number(int64_t value) const { return {context_, value}; }
  Dim dim(const std::string& text) const {
    const headrace_dim* to = nullptr;
    check(context_, host().dim_parse(context_, text.c_str(), &to));
    return {context_, to};
  }
  Value input(const std::string& name, const Type& type) { return leaf(HEADRACE_INPUT, name, type); }
  Value state(const std::string& name, const Type& type) { return leaf(HEADRACE_STATE, name, type); }
  // In a family's build, by its name in the checkpoint; of the type that is stored there unless one is named.
  Value parameter(const std::string& name, std::vector<Dim> dims, headrace_dtype dtype = HEADRACE_AS_STORED) {
    const headrace_type type = Type(dtype, std::move(dims)).c();
    headrace_value* value = nullptr;
    check(context_, host().parameter(context_, handle_, name.c_str(), &type, &value));
    return {context_, value};
  }
  bool has_weight(const std::string& name) const {
    int32_t answer = 0;
    check(context_, host().has_weight(context_, name.c_str(), &answer));
    return answer != 0;
  }
  Value constant(const headrace_tensor& contiguous) {
    headrace_value* value = nullptr;
    check(context_, host().graph_constant(context_, handle_, &contiguous, &value));
    return {context_, value};
  }
  Value constant(const std::vector<float>& values) {
    headrace_tensor tensor{const_cast<float*>(values.data()), HEADRACE_F32, 1, {int64_t(values.size())}, {1}};
    return constant(tensor);
  }
  std::vector<Value> emit_all(const char* op, const std::vector<Attribute>& attributes, const std::vector<Value>& inputs) {
    std::vector<headrace_attribute> spelt;
    for (const Attribute& a : attributes) spelt.push_back({a.name.c_str(), a.text.c_str()});
    std::vector<headrace_value*> operands;
    for (const Value& v : inputs) operands.push_back(v.handle());
    headrace_value* const* handles = nullptr;
    size_t count = 0;
    check(context_,
          host().graph_emit(context_, handle_, op, spelt.data(), spelt.size(), operands.data(), operands.size(), &handles, &count));
    std::vector<Value> results;
    for (size_t i = 0; i < count; ++i) results.emplace_back(context_, handles[i]);
    return results;
  }
  Value emit(const char* op, const std::vector<Attribute>& attributes, const std::vector<Value>& inputs) {
    return emit_all(op, attributes, inputs)[0];
  }
  Value emit(const char* op, const std::vector<Value>& inputs) { return emit(op, {}, inputs); }
  void mark_output(const Value& value, const std::string& name) {
    check(context_, host().graph_mark_output(context_, handle_, value.handle(), name.c_str()));
  }

  void insert_before(const Node& node) { check(context_, host().graph_insert_before(context_, handle_, node.handle())); }
  void insert_at_end() { check(context_, host().graph_insert_before(context_, handle_, nullptr)); }
  void replace_uses(const Value& from, const Value& by) {
    check(context_, host().graph_replace_uses(context_, handle_, from.handle(), by.handle()));
  }
  void set_input(const Node& node, int index, const Value& value) {
    check(context_, host().graph_set_input(context_, handle_, node.handle(), uint32_t(index), value.handle()));
  }
  void erase(const Node& node) { check(context_, host().graph_erase(context_, handle_, node.handle())); }
  void remove_dead() { check(context_, host().graph_remove_dead(context_, handle_)); }

 private:
  const headrace_host& host() const { return *context_->host; }
  Value leaf(headrace_leaf kind, const std::string& name, const Type& type) {
    const headrace_type c = type.c();
    headrace_value* value = nullptr;
    check(context_, host().graph_leaf(context_, handle_, kind, name.c_str(), &c, &value));
    return {context_, value};
  }
  headrace_context* context_;
  headrace_graph* handle_;
};

// ---------------------------------------------------------------------------------------------------------------- what is registered

struct Op {
  std::string name;
  std::vector<headrace_field> fields;
  int num_inputs = 1;
  std::function<std::vector<Type>(const Call&)> infer;
  std::function<void(const Call&, const Tensors& inputs, const Tensors& outputs)> reference;
  std::function<std::vector<Value>(Graph&, const Call&, const std::vector<Value>& inputs)> decompose = {};
  int num_outputs = 1;
  uint32_t flags = 0;    // HEADRACE_OP_*
  int num_optional = 0;  // operands that may be left out, at the end
};

class KernelRequest {
 public:
  KernelRequest(headrace_context* context, const headrace_kernel_request& c) : context_(context), c_(&c) {}
  Call call() const { return {context_, c_->call}; }
  bool is_constant(int operand) const { return c_->constants[operand].data != nullptr; }
  Tensor constant(int operand) const { return c_->constants[operand]; }
  bool exact() const { return c_->exact != 0; }

 private:
  headrace_context* context_;
  const headrace_kernel_request* c_;
};

class Launch {
 public:
  Launch(headrace_context* context, const headrace_launch& c) : context_(context), c_(&c) {}
  Tensor input(int i) const { return c_->inputs[i]; }
  Tensor output(int i) const { return c_->outputs[i]; }
  void* workspace() const { return c_->workspace; }
  void* stream() const { return c_->stream; }
  int thread() const { return c_->thread; }
  int num_threads() const { return c_->num_threads; }
  // This thread's part of [0, count).
  std::pair<int64_t, int64_t> share(int64_t count) const {
    return {count * thread() / num_threads(), count * (thread() + 1) / num_threads()};
  }
  // Every thread of the team is here. Leaves by an exception, not to be caught, when another thread has failed.
  void barrier() const { check(context_, context_->host->barrier(context_)); }

 private:
  headrace_context* context_;
  const headrace_launch* c_;
};

struct Kernel {
  std::string op, name;
  headrace_device device = HEADRACE_CPU;
  uint32_t flags = 0;                                       // HEADRACE_KERNEL_*
  std::function<bool(const KernelRequest&)> supports = {};  // empty: everything
};

struct Pass {
  std::string name, before, after;  // one of the two
  std::function<void(Graph&)> run;
};

struct ModelInfo {
  bool is_encoder = false;
  int64_t vocab_size = 0, max_positions = 0;
};
struct Family {
  std::string model_type;
  std::function<ModelInfo(Graph&, const std::string& config_json)> build;
};

struct StoredTensor {
  std::string name;
  headrace_dtype dtype;
  std::vector<int64_t> sizes;
};

using Logits = headrace_logits;

class Registrar {
 public:
  Registrar(headrace_context* context, headrace_registrar* handle) : context_(context), handle_(handle) {}
  void describe(const char* name, const char* version) { check(context_, host().describe(context_, handle_, name, version)); }

  void add(Op op) {
    auto* user = new Op(std::move(op));
    const headrace_op c{sizeof c,
                        user->name.c_str(),
                        user->fields.data(),
                        uint32_t(user->fields.size()),
                        uint32_t(user->num_inputs - user->num_optional),
                        uint32_t(user->num_inputs),
                        uint32_t(user->num_outputs),
                        user->flags,
                        user,
                        free_user<Op>,
                        infer,
                        user->reference ? reference : nullptr,
                        user->decompose ? decompose : nullptr};
    check(context_, host().register_op(context_, handle_, &c));
  }

  // K is made for each node: K(const KernelRequest&), `void run(const Launch&) const`, and if it wants scratch memory
  // `size_t workspace_bytes(const Launch& sizes) const`.
  template <typename K>
  void add_kernel(Kernel kernel) {
    auto* user = new Kernel(std::move(kernel));
    const headrace_kernel c{sizeof c,
                            user->op.c_str(),
                            user->name.c_str(),
                            user->device,
                            user->flags,
                            user,
                            free_user<Kernel>,
                            user->supports ? supports : nullptr,
                            make_kernel<K>,
                            [](void*, void* state) { delete static_cast<K*>(state); },
                            workspace_bytes_of<K>(0),
                            run_kernel<K>};
    check(context_, host().register_kernel(context_, handle_, &c));
  }

  void add(Pass pass) {
    auto* user = new Pass(std::move(pass));
    const headrace_pass c{sizeof c,
                          user->name.c_str(),
                          user->before.empty() ? nullptr : user->before.c_str(),
                          user->after.empty() ? nullptr : user->after.c_str(),
                          user,
                          free_user<Pass>,
                          [](headrace_context* context, void* u, headrace_graph* handle) {
                            return guard(context, [&] {
                              Graph graph(context, handle);
                              static_cast<Pass*>(u)->run(graph);
                            });
                          }};
    check(context_, host().register_pass(context_, handle_, &c));
  }

  void add(Family family) {
    auto* user = new Family(std::move(family));
    const headrace_family c{sizeof c, user->model_type.c_str(), user, free_user<Family>,
                            [](headrace_context* context, void* u, headrace_graph* handle, const char* config, headrace_model_info* to) {
                              return guard(context, [&] {
                                Graph graph(context, handle);
                                const ModelInfo info = static_cast<Family*>(u)->build(graph, config);
                                to->is_encoder = info.is_encoder, to->vocab_size = info.vocab_size, to->max_positions = info.max_positions;
                              });
                            }};
    check(context_, host().register_family(context_, handle_, &c));
  }

  // F is an open file: F(const std::string& path), static bool probe(const std::string& path), const std::string& config() const,
  // const std::vector<StoredTensor>& tensors() const, void read(size_t index, void* to, size_t bytes) const. The two vectors stay as they
  // are.
  template <typename F>
  void add_format(const char* name) {
    const headrace_format c{
        sizeof c,
        name,
        nullptr,
        nullptr,
        [](headrace_context* context, void*, const char* path, int32_t* answer) {
          return guard(context, [&] { *answer = F::probe(path); });
        },
        [](headrace_context* context, void*, const char* path, void** file) { return guard(context, [&] { *file = new F(path); }); },
        [](void*, void* file) { delete static_cast<F*>(file); },
        [](headrace_context* context, void*, void* file, const char** json) {
          return guard(context, [&] { *json = static_cast<const F*>(file)->config().c_str(); });
        },
        [](headrace_context* context, void*, void* file, size_t* count) {
          return guard(context, [&] { *count = static_cast<const F*>(file)->tensors().size(); });
        },
        [](headrace_context* context, void*, void* file, size_t index, headrace_stored_tensor* to) {
          return guard(context, [&] {
            const StoredTensor& t = static_cast<const F*>(file)->tensors().at(index);
            to->name = t.name.c_str(), to->dtype = t.dtype, to->rank = uint32_t(t.sizes.size());
            for (size_t i = 0; i < t.sizes.size() && i < HEADRACE_MAX_RANK; ++i) to->sizes[i] = t.sizes[i];
          });
        },
        [](headrace_context* context, void*, void* file, size_t index, void* to, size_t bytes) {
          return guard(context, [&] { static_cast<const F*>(file)->read(index, to, bytes); });
        }};
    check(context_, host().register_format(context_, handle_, &c));
  }

  // P is made for each request: P(const std::string& options_json, size_t vocab_size), void process(const Logits&).
  template <typename P>
  void add_logits_processor(const char* name) {
    const headrace_logits_processor c{sizeof c,
                                      name,
                                      nullptr,
                                      nullptr,
                                      [](headrace_context* context, void*, const char* options, size_t vocab_size, void** state) {
                                        return guard(context, [&] { *state = new P(std::string(options), vocab_size); });
                                      },
                                      [](void*, void* state) { delete static_cast<P*>(state); },
                                      [](headrace_context* context, void*, void* state, const headrace_logits* logits) {
                                        return guard(context, [&] { static_cast<P*>(state)->process(*logits); });
                                      }};
    check(context_, host().register_logits_processor(context_, handle_, &c));
  }

 private:
  const headrace_host& host() const { return *context_->host; }
  template <typename T>
  static void free_user(void* user) {
    delete static_cast<T*>(user);
  }

  static headrace_status infer(headrace_context* context, void* user, const headrace_call* call, headrace_type* outputs) {
    return guard(context, [&] {
      const Op& op = *static_cast<Op*>(user);
      const std::vector<Type> types = op.infer(Call(context, *call));
      if (int(types.size()) != op.num_outputs)
        throw Error(HEADRACE_INTERNAL, std::to_string(types.size()) + " types for " + std::to_string(op.num_outputs) + " results");
      for (size_t i = 0; i < types.size(); ++i) outputs[i] = types[i].c();
    });
  }
  static headrace_status reference(headrace_context* context, void* user, const headrace_call* call, const headrace_tensor* inputs,
                                   const headrace_tensor* outputs) {
    return guard(context, [&] {
      const Op& op = *static_cast<Op*>(user);
      op.reference(Call(context, *call), Tensors(inputs, call->num_inputs), Tensors(outputs, size_t(op.num_outputs)));
    });
  }
  static headrace_status decompose(headrace_context* context, void* user, const headrace_call* call, headrace_graph* handle,
                                   headrace_value* const* inputs, headrace_value** outputs) {
    return guard(context, [&] {
      const Op& op = *static_cast<Op*>(user);
      Graph graph(context, handle);
      std::vector<Value> operands;
      for (uint32_t i = 0; i < call->num_inputs; ++i) operands.emplace_back(context, inputs[i]);
      const std::vector<Value> results = op.decompose(graph, Call(context, *call), operands);
      for (size_t i = 0; i < results.size() && int(i) < op.num_outputs; ++i) outputs[i] = results[i].handle();
    });
  }

  static headrace_status supports(headrace_context* context, void* user, const headrace_kernel_request* request, int32_t* answer) {
    return guard(context, [&] { *answer = static_cast<Kernel*>(user)->supports(KernelRequest(context, *request)); });
  }
  template <typename K>
  static headrace_status make_kernel(headrace_context* context, void*, const headrace_kernel_request* request, void** state) {
    return guard(context, [&] { *state = new K(KernelRequest(context, *request)); });
  }
  using WorkspaceBytes = headrace_status (*)(headrace_context*, void*, void*, const headrace_launch*, size_t*);
  template <typename K>
  static auto workspace_bytes_of(int) -> decltype(std::declval<const K>().workspace_bytes(std::declval<Launch>()), WorkspaceBytes()) {
    return [](headrace_context* context, void*, void* state, const headrace_launch* sizes, size_t* bytes) {
      return guard(context, [&] { *bytes = static_cast<const K*>(state)->workspace_bytes(Launch(context, *sizes)); });
    };
  }
  template <typename K>
  static WorkspaceBytes workspace_bytes_of(...) {
    return nullptr;
  }
  template <typename K>
  static headrace_status run_kernel(headrace_context* context, void*, void* state, const headrace_launch* launch) {
    return guard(context, [&] { static_cast<const K*>(state)->run(Launch(context, *launch)); });
  }

  headrace_context* context_;
  headrace_registrar* handle_;
};

// The body of headrace_plugin_init.
template <typename Body>
headrace_status init(headrace_context* context, headrace_registrar* registrar, Body&& body) noexcept {
  return guard(context, [&] {
    Registrar to(context, registrar);
    body(to);
  });
}

}  // namespace headrace::plugin
