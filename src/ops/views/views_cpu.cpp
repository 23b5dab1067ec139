// Copies for views that strides cannot express.
#include <cstring>

#include "device/cpu/cpu_device.h"
#include "ops/strided_loop.h"
#include "ops/views/views.h"

namespace headrace {
namespace {

class ViewCopy : public CpuKernel {
 public:
  explicit ViewCopy(const KernelRequest& request)
      : op_(request.call.op), attributes_(request.call.attributes), inputs_(request.call.inputs.begin(), request.call.inputs.end()) {}

  void run(Team& team, const Launch& launch) const override {
    const Tensor& out = launch.outputs[0];
    const std::optional<Tensor> source = elements_of_view({op_, attributes_, inputs_}, launch.inputs[0], out.sizes);
    if (source) copy_strided(team, *source, Tensor::contiguous(out.data, out.dtype, source->sizes));
    else if (team.rank() == 0) std::memset(out.data, 0, size_t(out.bytes()));
  }
  std::string description() const override { return op_.name + "/copy"; }

 private:
  const OpDef& op_;
  Attributes attributes_;
  std::vector<TensorType> inputs_;
};

}  // namespace

void register_views_cpu(KernelRegistry& kernels) {
  for (const char* op : {"view", "permute", "slice", "expand"})
    kernels.add({.op = op, .name = "copy/cpu", .supports = supports_all, .make = make_as<ViewCopy>});
}

}  // namespace headrace
