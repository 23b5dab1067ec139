#include "lowering/plan.h"

#include <algorithm>
#include <deque>

#include "core/dtype.h"
#include "core/error.h"
#include "core/log.h"
#include "lowering/arena_layout.h"
#include "lowering/known_values.h"

namespace headrace {

Plan::Plan(Graph program, std::shared_ptr<Device> device, const KernelRegistry& kernels, ParameterSource& parameters,
           const LoweringOptions& options)
    : program_(std::move(program)), device_(std::move(device)) {
  build(kernels, parameters, options);
}

namespace {

// The first kernel that supports the node; on a CPU the reference serves as the last resort.
std::unique_ptr<Kernel> make_kernel(const KernelRegistry& kernels, const KernelRequest& request) {
  for (const KernelDef* k : kernels.candidates(request.call.op.name, request.device.kind()))
    if (k->supports(request)) return k->make(request);
  if (request.call.op.decompose) return nullptr;
  if (request.device.kind() != DeviceKind::kCpu)
    fail(ErrorCode::kUnsupported, "{}: no kernel for device {}", request.call.op.name, request.device.name());
  log(LogLevel::kInfo, "{}: no kernel, its reference runs instead", request.call.op.name);
  return make_reference_kernel(request);
}

// Puts the node's decomposition in its place; returns the new nodes in order.
std::vector<Node*> decompose(Graph& graph, Node& node) {
  const int before = graph.num_nodes();
  graph.insert_before(&node);
  const std::vector<Value> results = node.op().decompose(graph, node, node.inputs());
  graph.insert_before(nullptr);
  const std::vector<Node*> after = graph.nodes();  // the new ones stand right before the old
  const auto place = std::find(after.begin(), after.end(), &node);
  const std::vector<Node*> added(place - (graph.num_nodes() - before), place);
  for (size_t i = 0; i < results.size(); ++i) graph.replace_all_uses(node.outputs()[i], results[i]);
  graph.erase(node);
  return added;
}

// Sizes to try a view with before the real ones are known: symbols get distinct numbers above 1, so that nothing collapses.
SymbolValues sample_symbols(const Graph& graph) {
  std::vector<std::string> names;
  for (Leaf kind : {Leaf::kInput, Leaf::kState})
    for (const Value& v : graph.leaves(kind))
      for (const Dim& d : v.shape().dims()) d.collect_symbols(names);
  SymbolValues values;
  int64_t next = 7;
  for (const std::string& name : names) values[name] = next, next += 2;
  return values;
}

Sizes evaluate(const Shape& shape, const SymbolValues& symbols) {
  Sizes sizes;
  for (const Dim& d : shape.dims()) sizes.push_back(d.is_constant() ? d.value() : d.evaluate(symbols));
  return sizes;
}

}  // namespace

void Plan::build(const KernelRegistry& kernels, ParameterSource& parameters, const LoweringOptions& options) {
  const SymbolValues sample = sample_symbols(program_);
  KnownValues known(parameters);
  inputs_ = program_.leaves(Leaf::kInput);
  state_values_ = program_.leaves(Leaf::kState);
  for (const std::vector<Value>* values : {&inputs_, &state_values_})
    for (const Value& v : *values) {
      places_[v] = {.root = v};
      places_[v].tensor = Tensor::contiguous(nullptr, v.dtype(), evaluate(v.shape(), sample));
    }
  // Operands that kernels read at run time although they were known before.
  const auto keep = [&](Value v, const Constant& constant) {
    Place& place = places_[v];
    if (place.root && place.constant.tensor.data) return;
    place = {.root = v, .constant = constant, .tensor = constant.tensor, .last_step = place.last_step};
  };
  const std::vector<Node*> nodes = program_.nodes();
  std::deque<Node*> work(nodes.begin(), nodes.end());
  while (!work.empty()) {
    Node& node = *work.front();
    work.pop_front();
    if (node.output().is_known_at_load()) {  // evaluated when asked for
      for (const Value& out : node.outputs())
        if (out.is_output()) keep(out, known.get(out));
      continue;
    }
    const std::vector<TensorType> input_types = types_of(node.inputs()), output_types = types_of(node.outputs());
    const OpCall call{node.op(), node.attributes(), input_types};
    const auto place_of = [&](Value v) -> Place& {
      if (v.is_known_at_load()) keep(v, known.get(v));
      return places_.at(v);
    };
    if (node.op().view) {
      const Place operand = place_of(node.input(0));
      if (std::optional<Tensor> seen = node.op().view(call, operand.tensor, evaluate(node.output().shape(), sample))) {
        places_[node.output()] = {.root = operand.root, .view = &node, .tensor = *seen};
        order_.push_back(&node);
        known.done(node);
        continue;
      }
    }
    std::vector<Constant> constants;
    for (const Value& in : node.inputs()) constants.push_back(known.get(in));
    std::unique_ptr<Kernel> kernel = make_kernel(kernels, {call, output_types, constants, options.arithmetic, *device_});
    if (!kernel) {
      const std::vector<Node*> parts = decompose(program_, node);
      work.insert(work.begin(), parts.begin(), parts.end());
      continue;
    }
    const int step = int(steps_.size());
    constant_bytes_ += kernel->held_bytes();
    for (size_t i = 0; i < node.inputs().size(); ++i) {
      const Value in = node.input(int(i));
      if (in.is_known_at_load() && kernel->reads_constants() && int(i) != node.op().table_operand)
        constant_bytes_ += storage_bytes(in.dtype(), in.shape().numel().value());
      if (in.is_known_at_load() && !kernel->reads_constants()) {
        // Packed: only the sizes are of interest from now on, unless another kernel wants the bytes.
        if (!places_.count(in)) places_[in] = {.root = in, .tensor = Tensor::contiguous(nullptr, in.dtype(), evaluate(in.shape(), sample))};
        continue;
      }
      places_.at(place_of(in).root).last_step = step;
    }
    for (size_t i = 0; i < node.outputs().size(); ++i) {
      const Value out = node.outputs()[i];
      const bool in_place = i == 0 && node.op().in_place_operand >= 0;
      const Value root = in_place ? places_.at(node.input(node.op().in_place_operand)).root : out;
      places_[out] = {.root = root, .view = in_place ? &node : nullptr};
      places_[out].tensor = Tensor::contiguous(nullptr, out.dtype(), evaluate(out.shape(), sample));
      places_.at(root).last_step = std::max(places_.at(root).last_step, step);
    }
    order_.push_back(&node);
    steps_.push_back({std::move(kernel), &node});
    known.done(node);
  }
  for (const Graph::Output& o : program_.outputs()) {
    if (o.value.is_known_at_load()) keep(o.value, known.get(o.value));
    places_.at(places_.at(o.value).root).last_step = int(steps_.size());
  }
  launches_.resize(steps_.size());
}

void Plan::bind_state(const std::string& name, const Tensor& memory) {
  const Value state = program_.find(Leaf::kState, name);
  if (!state) fail(ErrorCode::kNotFound, "the program has no state '{}'", name);
  if (state.dtype() != memory.dtype || state.shape().rank() != memory.rank())
    invalid("state '{}' is {}, memory of {}{} was given", name, state.type().to_string(), headrace::name(memory.dtype),
            memory.sizes.to_string());
  states_[name] = memory;
  laid_out_ = false;
}

namespace {

// Finds the one unknown symbol of `dim` from its size, or checks the size.
void unify(const std::string& what, const Dim& dim, int64_t size, SymbolValues& symbols) {
  std::vector<std::string> names, unknown;
  dim.collect_symbols(names);
  for (const std::string& n : names)
    if (!symbols.count(n)) unknown.push_back(n);
  if (unknown.size() == 1) {  // dim = a * symbol + b: two samples give a and b
    SymbolValues trial = symbols;
    const auto at = [&](int64_t v) {
      trial[unknown[0]] = v;
      return dim.evaluate(trial);
    };
    const int64_t b = at(0), a = at(1) - b;
    if (a != 0 && (size - b) % a == 0 && at((size - b) / a) == size && (size - b) / a >= 0) {
      symbols[unknown[0]] = (size - b) / a;
      return;
    }
  } else if (unknown.empty() && dim.evaluate(symbols) == size) {
    return;
  }
  invalid("{}: a size is {}, {} is wanted{}", what, size, dim.to_string(),
          unknown.empty() && !names.empty() ? fmt::format(" (= {}, by other inputs)", dim.evaluate(symbols)) : "");
}

}  // namespace

// What was given for an input or a state. The layout of the last run holds no longer if its size or address is another.
void Plan::take(Value leaf, const char* what, const std::map<std::string, Tensor>& given) {
  const auto it = given.find(leaf.name());
  if (it == given.end()) {
    if (leaf.users().empty() && !leaf.is_output()) return;
    invalid("{} '{}' ({}) was not given", what, leaf.name(), leaf.type().to_string());
  }
  const Tensor& tensor = it->second;
  if (tensor.dtype != leaf.dtype() || tensor.rank() != leaf.shape().rank())
    invalid("{} '{}' is {}, {}{} was given", what, leaf.name(), leaf.type().to_string(), headrace::name(tensor.dtype),
            tensor.sizes.to_string());
  Tensor& known = places_.at(leaf).tensor;
  if (known.data == tensor.data && known.sizes == tensor.sizes && known.strides == tensor.strides) return;
  known = tensor;
  laid_out_ = false;  // even if this run's inputs turn out not to fit
}

// False when sizes and addresses are those of the last run.
bool Plan::solve_symbols(const std::map<std::string, Tensor>& inputs) {
  for (const Value& v : inputs_) take(v, "input", inputs);
  if (laid_out_) return false;
  for (const Value& v : state_values_) take(v, "state", states_);
  symbols_.clear();
  for (const std::vector<Value>* values : {&inputs_, &state_values_})
    for (const Value& v : *values) {
      if (v.users().empty() && !v.is_output()) continue;
      const Tensor& tensor = places_.at(v).tensor;
      for (int axis = 0; axis < v.shape().rank(); ++axis) unify("'" + v.name() + "'", v.shape()[axis], tensor.sizes[axis], symbols_);
    }
  return true;
}

Sizes Plan::sizes_of(Value value) const { return evaluate(value.shape(), symbols_); }

void Plan::lay_out() {
  // Every value that owns memory gets a place in the arena from the step that makes it to the last that reads it.
  ArenaLayout layout;
  std::vector<std::pair<Value, int>> owners;  // and the block it got
  std::vector<int> workspaces(steps_.size(), -1);
  std::unordered_map<const Node*, int> step_of;
  for (size_t i = 0; i < steps_.size(); ++i) step_of[steps_[i].node] = int(i);
  for (const Node* node : order_) {
    const auto it = step_of.find(node);
    for (const Value& out : node->outputs()) {
      Place& place = places_.at(out);
      if (place.root == out && it != step_of.end()) {
        const Sizes sizes = sizes_of(out);
        const std::optional<int64_t> bytes = checked_bytes(out.dtype(), sizes);
        if (!bytes) invalid("'{}' {}{} is too large", out.name(), name(out.dtype()), sizes.to_string());
        place.tensor = Tensor::contiguous(nullptr, out.dtype(), sizes);
        owners.push_back({out, layout.add(size_t(*bytes), it->second, std::max(place.last_step, it->second))});
      }
    }
  }
  const auto update_tensors = [&] {
    for (const Node* node : order_) {
      const Value out = node->output();
      Place& place = places_.at(out);
      if (place.view != node) continue;
      const std::vector<TensorType> types = types_of(node->inputs());
      if (node->op().view) {
        std::optional<Tensor> seen =
            node->op().view({node->op(), node->attributes(), types}, places_.at(node->input(0)).tensor, sizes_of(out));
        if (!seen)
          fail(ErrorCode::kInternal, "{}: '{}' is no view of '{}' at these sizes", node->op().name, out.name(), node->input(0).name());
        place.tensor = *seen;
      } else {
        place.tensor = places_.at(node->input(node->op().in_place_operand)).tensor;
      }
    }
  };
  update_tensors();  // sizes and strides, for the workspaces
  for (size_t i = 0; i < steps_.size(); ++i) {
    Launch& launch = launches_[i];
    launch.kernel = steps_[i].kernel.get();
    launch.inputs.clear(), launch.outputs.clear();
    for (const Value& v : steps_[i].node->inputs()) launch.inputs.push_back(places_.at(v).tensor);
    for (const Value& v : steps_[i].node->outputs()) launch.outputs.push_back(places_.at(v).tensor);
    if (const size_t bytes = launch.kernel->workspace_bytes(launch.inputs, launch.outputs))
      workspaces[i] = layout.add(bytes, int(i), int(i));
  }
  layout.assign();
  if (layout.total_bytes() > arena_.size()) {
    arena_ = Buffer();
    arena_ = device_->allocate(layout.total_bytes());
  }
  for (const auto& [value, block] : owners) places_.at(value).tensor.data = arena_.data() + layout.offset(block);
  update_tensors();  // addresses
  for (size_t i = 0; i < steps_.size(); ++i) {
    Launch& launch = launches_[i];
    for (size_t k = 0; k < launch.inputs.size(); ++k) launch.inputs[k] = places_.at(steps_[i].node->input(int(k))).tensor;
    for (size_t k = 0; k < launch.outputs.size(); ++k) launch.outputs[k] = places_.at(steps_[i].node->output(int(k))).tensor;
    launch.workspace = workspaces[i] >= 0 ? arena_.data() + layout.offset(workspaces[i]) : nullptr;
  }
  laid_out_ = true;
}

void Plan::run(Stream& stream, const std::map<std::string, Tensor>& inputs) {
  if (solve_symbols(inputs)) lay_out();
  stream.run(launches_);
}

Tensor Plan::output(const std::string& name) const {
  for (const Graph::Output& o : program_.outputs())
    if (o.name == name) return places_.at(o.value).tensor;
  fail(ErrorCode::kNotFound, "the program has no output '{}'", name);
}

std::vector<Plan::Step> Plan::steps() const {
  std::vector<Step> steps;
  for (const StepData& s : steps_) steps.push_back({s.kernel->description(), s.node->op().name, s.node->output().name()});
  return steps;
}

}  // namespace headrace
