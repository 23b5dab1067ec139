#include "device/cpu/cpu_device.h"
#include "ops/attention/attention_schedule.h"
#include "ops/dense_rows.h"

namespace headrace {
namespace {

class AttentionKernel : public CpuKernel {
 public:
  AttentionKernel(const Attention& attributes, CpuDevice& device)
      : head_bytes_(attributes.head_dim * int64_t(sizeof(float))),
        runner_(attributes, device.isa(), DType::kF32, Arithmetic::kExact, device.pool().size()),
        description_("attention/packed f32 " + std::string(name(device.isa()))) {}

  size_t workspace_bytes(std::span<const Tensor> in, std::span<const Tensor>) const override {
    return runner_.workspace_bytes(in[3].sizes[0] - 1, in[0].sizes[0]);
  }
  void run(Team& team, const Launch& launch) const override {
    const Tensor &q = launch.inputs[0], &offsets = launch.inputs[3], &y = launch.outputs[0];
    const auto heads = [&](const Tensor& x) {
      return AttentionLaunch::Heads{{x.as<std::byte>(), 0, x.row_stride() * int64_t(sizeof(float))}, head_bytes_};
    };
    const AttentionLaunch operands{.q = q.as<float>(),
                                   .y = y.as<float>(),
                                   .q_stride = q.row_stride(),
                                   .y_stride = y.row_stride(),
                                   .offsets = offsets.as<int32_t>(),
                                   .num_sequences = offsets.sizes[0] - 1,
                                   .keys = heads(launch.inputs[1]),
                                   .values = heads(launch.inputs[2]),
                                   .num_tokens = q.sizes[0]};
    runner_.run(team, operands, q.sizes[0], launch.workspace);
  }
  std::string description() const override { return description_; }

 private:
  int64_t head_bytes_;
  AttentionRunner runner_;
  std::string description_;
};

}  // namespace

void register_attention_cpu(KernelRegistry& kernels) {
  kernels.add({.op = "attention",
               .name = "attention_tiles/cpu",
               .device = DeviceKind::kCpu,
               .supports = [](const KernelRequest& request) { return request.call.input(0).dtype == DType::kF32; },
               .make = [](const KernelRequest& request) -> std::unique_ptr<Kernel> {
                 auto& device = static_cast<CpuDevice&>(request.device);
                 return with_dense_rows(std::make_unique<AttentionKernel>(request.call.as<Attention>(), device), {.even = {0, 1, 2, 3}});
               }});
}

}  // namespace headrace
