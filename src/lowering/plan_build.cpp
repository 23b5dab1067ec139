// From a program to steps: every node becomes a view, a kernel, or the nodes of its decomposition.
#include <algorithm>
#include <deque>

#include "core/error.h"
#include "core/log.h"
#include "lowering/known_values.h"
#include "lowering/plan.h"
#include "lowering/symbols.h"

namespace headrace {
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

}  // namespace

// What is needed while a plan is built, and not when it runs.
struct Plan::Lowering {
  const KernelRegistry& kernels;
  Arithmetic arithmetic;
  std::shared_ptr<Communicator> communicator;
  SymbolValues sample;
  KnownValues known;

  Tensor sample_of(Value v) const { return Tensor::contiguous(nullptr, v.dtype(), evaluate(v.shape(), sample)); }
};

Plan::Plan(Graph program, std::shared_ptr<Device> device, const KernelRegistry& kernels, ParameterSource& parameters,
           const LoweringOptions& options)
    : program_(std::move(program)), device_(std::move(device)) {
  Lowering lowering{kernels, options.arithmetic, options.communicator, sample_symbols(program_), KnownValues(parameters)};
  build(lowering);
}

void Plan::build(Lowering& lowering) {
  inputs_ = program_.leaves(Leaf::kInput);
  state_values_ = program_.leaves(Leaf::kState);
  for (const std::vector<Value>* values : {&inputs_, &state_values_})
    for (const Value& v : *values) places_[v] = {.root = v, .tensor = lowering.sample_of(v)};
  const std::vector<Node*> nodes = program_.nodes();
  std::deque<Node*> work(nodes.begin(), nodes.end());
  while (!work.empty()) {
    Node& node = *work.front();
    work.pop_front();
    if (node.output().is_known_at_load()) {  // evaluated when asked for
      for (const Value& out : node.outputs())
        if (out.is_output()) keep(out, lowering.known.get(out));
    } else if (!lower_to_view(node, lowering) && !lower_to_kernel(node, lowering)) {
      const std::vector<Node*> parts = decompose(program_, node);
      work.insert(work.begin(), parts.begin(), parts.end());
    }
  }
  for (const Graph::Output& o : program_.outputs()) {
    if (o.value.is_known_at_load()) keep(o.value, lowering.known.get(o.value));
    places_.at(places_.at(o.value).root).last_step = int(steps_.size());
  }
  launches_.resize(steps_.size());
}

// Of a value known at load that is read at run time.
void Plan::keep(Value value, const Constant& constant) {
  Place& place = places_[value];
  if (place.root && place.constant.tensor.data) return;
  place = {.root = value, .constant = constant, .tensor = constant.tensor, .last_step = place.last_step};
}

Plan::Place& Plan::place_of(Value value, Lowering& lowering) {
  if (value.is_known_at_load()) keep(value, lowering.known.get(value));
  return places_.at(value);
}

bool Plan::lower_to_view(const Node& node, Lowering& lowering) {
  if (!node.op().view) return false;
  const std::vector<TensorType> types = types_of(node.inputs());
  const Place operand = place_of(node.input(0), lowering);
  const Sizes sizes = evaluate(node.output().shape(), lowering.sample);
  const std::optional<Tensor> seen = node.op().view({node.op(), node.attributes(), types}, operand.tensor, sizes);
  if (!seen) return false;
  places_[node.output()] = {.root = operand.root, .view = &node, .tensor = *seen};
  order_.push_back(&node);
  lowering.known.done(node);
  return true;
}

// False when no kernel supports the node and it has a decomposition.
bool Plan::lower_to_kernel(const Node& node, Lowering& lowering) {
  if (const int changed = node.op().in_place_operand; changed >= 0 && node.input(changed).is_known_at_load())
    invalid("{}: '{}' is known at load and cannot be changed in place; a state is wanted", node.op().name, node.input(changed).name());
  const std::vector<TensorType> input_types = types_of(node.inputs()), output_types = types_of(node.outputs());
  std::vector<Constant> constants;
  for (const Value& in : node.inputs()) constants.push_back(lowering.known.get(in));
  const OpCall call{node.op(), node.attributes(), input_types};
  std::unique_ptr<Kernel> kernel =
      make_kernel(lowering.kernels, {call, output_types, constants, lowering.arithmetic, *device_, lowering.communicator});
  if (!kernel) return false;
  const int step = int(steps_.size());
  constant_bytes_ += kernel->held_bytes();
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    const Value in = node.input(int(i));
    if (in.is_known_at_load() && !kernel->reads_constants()) {
      // Packed: only the sizes are of interest from now on, unless another kernel wants the bytes.
      if (!places_.count(in)) places_[in] = {.root = in, .tensor = lowering.sample_of(in)};
      continue;
    }
    if (in.is_known_at_load() && int(i) != node.op().table_operand)
      constant_bytes_ += storage_bytes(in.dtype(), in.shape().numel().value());
    places_.at(place_of(in, lowering).root).last_step = step;
  }
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    const Value out = node.outputs()[i];
    const bool in_place = i == 0 && node.op().in_place_operand >= 0;
    const Value root = in_place ? places_.at(node.input(node.op().in_place_operand)).root : out;
    places_[out] = {.root = root, .view = in_place ? &node : nullptr, .tensor = lowering.sample_of(out)};
  }
  order_.push_back(&node);
  steps_.push_back({std::move(kernel), &node});
  lowering.known.done(node);
  return true;
}

}  // namespace headrace
