// A plan: a program lowered to one device. Kernels are chosen and hold their packed weights; memory is laid out for the sizes at
// hand, whatever they are, whenever they change. One thread uses a plan at a time.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "device/device.h"
#include "headrace/graph.h"
#include "lowering/plan_observer.h"
#include "ops/kernel.h"

namespace headrace {

// Where a program's parameters come from.
class ParameterSource {
 public:
  virtual ~ParameterSource() = default;
  // The tensor in host memory, as the checkpoint stores it. Throws Error(kNotFound).
  virtual Constant get(const std::string& path) = 0;
  // The plan has what it needs of it; what it keeps in use stays valid through Constant::owner.
  virtual void done_with(const std::string& /*path*/) {}
};

struct LoweringOptions {
  Arithmetic arithmetic = Arithmetic::kFast;
  std::shared_ptr<Communicator> communicator = nullptr;  // null: a program of one rank
};

class Plan {
 public:
  // Throws Error: an unbound parameter, an op without kernel and reference on this device, no memory.
  Plan(Graph program, std::shared_ptr<Device> device, const KernelRegistry& kernels, ParameterSource& parameters,
       const LoweringOptions& options);

  const Graph& program() const { return program_; }
  Device& device() const { return *device_; }

  // Memory of a state, in the device; stays bound until bound anew.
  void bind_state(const std::string& name, const Tensor& memory);
  // Runs on inputs in device memory, by name; every input of the program must be there (others are ignored). Sizes of symbols
  // follow from them. Throws Error(kInvalidArgument) when types or sizes do not fit the program.
  void run(Stream& stream, const std::map<std::string, Tensor>& inputs);
  // A result of the last run, in device memory, valid until the next.
  Tensor output(const std::string& name) const;
  // Where a value of the program is: of an inner one only between the steps that make it and that read it last.
  const Tensor& tensor(Value value) const { return places_.at(value).tensor; }
  // Who looks at runs from now on; null: nobody. It must outlive them.
  void observe(PlanObserver* observer) { observer_ = observer; }

  // What one run reads of values known at load, in the form in which kernels read them. Tables of which a run looks up rows do not count.
  int64_t constant_bytes() const { return constant_bytes_; }
  // What runs, in order: "fused_linear/..." and the names of its results.
  struct Step {
    std::string kernel, op, result;
    const Node* node;
  };
  std::vector<Step> steps() const;

 private:
  struct StepData {
    std::unique_ptr<Kernel> kernel;
    const Node* node;
  };
  // Where a value's bytes are: in its own memory, or in another value's (views, in-place results).
  struct Place {
    Value root;                  // itself, if it owns memory
    const Node* view = nullptr;  // the view that makes it from its operand, if any
    Constant constant;           // kept for kernels that read it at run time
    Tensor tensor;               // as of the last layout
    int last_step = -1;          // of a root: the last step that reads it or a view of it
  };

  // Building: plan_build.cpp.
  struct Lowering;
  void build(Lowering& lowering);
  bool lower_to_view(const Node& node, Lowering& lowering);
  bool lower_to_kernel(const Node& node, Lowering& lowering);
  void keep(Value value, const Constant& constant);
  Place& place_of(Value value, Lowering& lowering);

  // Running: plan.cpp.
  void take(Value leaf, const char* what, const std::map<std::string, Tensor>& given);
  bool solve_symbols(const std::map<std::string, Tensor>& inputs);
  void lay_out();
  void update_views();
  void update_launches();
  Sizes sizes_of(Value value) const;

  Graph program_;
  std::shared_ptr<Device> device_;
  std::vector<StepData> steps_;
  std::unordered_map<Value, Place> places_;
  std::vector<const Node*> order_;  // nodes that run or view, in order
  std::vector<Value> inputs_, state_values_;
  std::map<std::string, Tensor> states_;
  SymbolValues symbols_;
  int64_t constant_bytes_ = 0;
  bool laid_out_ = false;
  Buffer arena_;
  std::vector<Launch> launches_;
  PlanObserver* observer_ = nullptr;
};

}  // namespace headrace
