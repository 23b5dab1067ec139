#include "ops/kernel.h"

#include "device/cpu/cpu_device.h"
#include "ops/reference.h"

namespace headrace {

std::vector<const KernelDef*> KernelRegistry::candidates(std::string_view op, DeviceKind device) const {
  std::vector<const KernelDef*> found;
  for (const KernelDef& k : kernels_)
    if (k.op == op && k.device == device) found.push_back(&k);
  return found;
}

namespace {

class ReferenceKernel : public CpuKernel {
 public:
  explicit ReferenceKernel(const KernelRequest& request)
      : op_(request.call.op), attributes_(request.call.attributes), inputs_(request.call.inputs.begin(), request.call.inputs.end()) {}

  void run(Team& team, const Launch& launch) const override {
    if (team.rank() != 0) return;
    std::vector<HostTensor> copies;
    std::vector<Tensor> inputs = launch.inputs;
    for (Tensor& t : inputs)
      if (!t.is_contiguous()) t = copies.emplace_back(contiguous_copy(t));
    op_.reference({op_, attributes_, inputs_}, inputs, launch.outputs);
  }
  std::string description() const override { return op_.name + "/reference"; }

 private:
  const OpDef& op_;
  Attributes attributes_;
  std::vector<TensorType> inputs_;
};

}  // namespace

std::unique_ptr<Kernel> make_reference_kernel(const KernelRequest& request) {
  if (!request.call.op.reference)
    fail(ErrorCode::kUnsupported, "{}: no kernel on this device, and the op has no reference", request.call.op.name);
  return std::make_unique<ReferenceKernel>(request);
}

}  // namespace headrace
