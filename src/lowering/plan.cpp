// Running: sizes of what is given, places in memory, launches. plan_build.cpp makes the steps.
#include "lowering/plan.h"

#include <algorithm>

#include "core/dtype.h"
#include "core/error.h"
#include "lowering/arena_layout.h"
#include "lowering/symbols.h"

namespace headrace {

void Plan::bind_state(const std::string& name, const Tensor& memory) {
  const Value state = program_.find(Leaf::kState, name);
  if (!state) fail(ErrorCode::kNotFound, "the program has no state '{}'", name);
  if (state.dtype() != memory.dtype || state.shape().rank() != memory.rank())
    invalid("state '{}' is {}, memory of {}{} was given", name, state.type().to_string(), headrace::name(memory.dtype),
            memory.sizes.to_string());
  states_[name] = memory;
  laid_out_ = false;
}

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

// False when sizes and addresses are those of the last run. Inputs that nothing reads say what symbols are too, if they are given.
bool Plan::solve_symbols(const std::map<std::string, Tensor>& inputs) {
  for (const Value& v : inputs_) take(v, "input", inputs);
  if (laid_out_) return false;
  for (const Value& v : state_values_) take(v, "state", states_);
  symbols_.clear();
  const auto unify_all = [&](const std::vector<Value>& values, const std::map<std::string, Tensor>& given) {
    for (const Value& v : values) {
      if (!given.count(v.name())) continue;
      const Tensor& tensor = places_.at(v).tensor;
      for (int axis = 0; axis < v.shape().rank(); ++axis) unify("'" + v.name() + "'", v.shape()[axis], tensor.sizes[axis], symbols_);
    }
  };
  unify_all(inputs_, inputs);
  unify_all(state_values_, states_);
  return true;
}

Sizes Plan::sizes_of(Value value) const { return evaluate(value.shape(), symbols_); }

// Sizes, strides and addresses of views and of results in place, which follow from those of their operands.
void Plan::update_views() {
  for (const Node* node : order_) {
    const Value out = node->output();
    Place& place = places_.at(out);
    if (place.view != node) continue;
    if (!node->op().view) {
      place.tensor = places_.at(node->input(node->op().in_place_operand)).tensor;
      continue;
    }
    const std::vector<TensorType> types = types_of(node->inputs());
    const std::optional<Tensor> seen =
        node->op().view({node->op(), node->attributes(), types}, places_.at(node->input(0)).tensor, sizes_of(out));
    if (!seen) fail(ErrorCode::kInternal, "{}: '{}' is no view of '{}' at these sizes", node->op().name, out.name(), node->input(0).name());
    place.tensor = *seen;
  }
}

void Plan::update_launches() {
  for (size_t i = 0; i < steps_.size(); ++i) {
    Launch& launch = launches_[i];
    launch.kernel = steps_[i].kernel.get();
    launch.inputs.clear(), launch.outputs.clear();
    for (const Value& v : steps_[i].node->inputs()) launch.inputs.push_back(places_.at(v).tensor);
    for (const Value& v : steps_[i].node->outputs()) launch.outputs.push_back(places_.at(v).tensor);
  }
}

// Every value that owns memory gets a place in the arena from the step that makes it to the last that reads it; a workspace for its step.
void Plan::lay_out() {
  ArenaLayout layout;
  std::vector<std::pair<Value, int>> owners;  // and the block it got
  for (size_t i = 0; i < steps_.size(); ++i) {
    for (const Value& out : steps_[i].node->outputs()) {
      Place& place = places_.at(out);
      if (place.root != out) continue;
      const Sizes sizes = sizes_of(out);
      const std::optional<int64_t> bytes = checked_bytes(out.dtype(), sizes);
      if (!bytes) invalid("'{}' {}{} is too large", out.name(), name(out.dtype()), sizes.to_string());
      place.tensor = Tensor::contiguous(nullptr, out.dtype(), sizes);
      owners.push_back({out, layout.add(size_t(*bytes), int(i), std::max(place.last_step, int(i)))});
    }
  }
  // A first time without addresses, for the workspaces depend on sizes and strides.
  update_views();
  update_launches();
  std::vector<std::pair<Launch*, int>> workspaces;  // and the block it got
  for (size_t i = 0; i < steps_.size(); ++i) {
    Launch& launch = launches_[i];
    launch.workspace = nullptr;
    if (const size_t bytes = launch.kernel->workspace_bytes(launch.inputs, launch.outputs))
      workspaces.push_back({&launch, layout.add(bytes, int(i), int(i))});
  }
  layout.assign();
  if (layout.total_bytes() > arena_.size()) {
    arena_ = Buffer();
    arena_ = device_->allocate(layout.total_bytes());
  }
  for (const auto& [value, block] : owners) places_.at(value).tensor.data = arena_.data() + layout.offset(block);
  for (const auto& [launch, block] : workspaces) launch->workspace = arena_.data() + layout.offset(block);
  update_views();
  update_launches();
  laid_out_ = true;
}

void Plan::run(Stream& stream, const std::map<std::string, Tensor>& inputs) {
  if (solve_symbols(inputs)) lay_out();
  if (!observer_) return stream.run(launches_);
  observer_->begin_run();
  stream.run(launches_, *observer_);
  observer_->end_run();
}

Tensor Plan::output(const std::string& name) const {
  for (const Graph::Output& o : program_.outputs())
    if (o.name == name) return places_.at(o.value).tensor;
  fail(ErrorCode::kNotFound, "the program has no output '{}'", name);
}

std::vector<Plan::Step> Plan::steps() const {
  std::vector<Step> steps;
  for (const StepData& s : steps_) steps.push_back({s.kernel->description(), s.node->op().name, s.node->output().name(), s.node});
  return steps;
}

}  // namespace headrace
