#include "core/error.h"
#include "device/cpu/cpu_device.h"
#include "ops/attention/attention_schedule.h"
#include "ops/dense_rows.h"
#include "ops/kv_write/kv_write.h"
#include "ops/paged_attention/paged_attention.h"

namespace headrace {
namespace {

class PagedAttentionKernel : public CpuKernel {
 public:
  PagedAttentionKernel(const Attention& attributes, DType kv, Arithmetic arithmetic, CpuDevice& device)
      : runner_(attributes, device.isa(), kv, arithmetic, device.pool().size()),
        description_(fmt::format("paged_attention/{} {}", name(kv), name(device.isa()))) {}

  size_t workspace_bytes(std::span<const Tensor> in, std::span<const Tensor>) const override {
    return runner_.workspace_bytes(in[3].sizes[0], max_length(in));
  }
  void run(Team& team, const Launch& launch) const override {
    const Tensor &q = launch.inputs[0], &tables = launch.inputs[4], &y = launch.outputs[0];
    const KvView kv(launch.inputs[1]);
    const auto heads = [&](KvView::Part part) {
      return AttentionLaunch::Heads{{kv.vector(0, part, 0), kv.strides[0] * kv.element_bytes, kv.strides[3] * kv.element_bytes},
                                    kv.strides[2] * kv.element_bytes};
    };
    const AttentionLaunch operands{.q = q.as<float>(),
                                   .y = y.as<float>(),
                                   .q_stride = q.row_stride(),
                                   .y_stride = y.row_stride(),
                                   .offsets = launch.inputs[2].as<int32_t>(),
                                   .num_sequences = tables.sizes[0],
                                   .keys = heads(KvView::kKeys),
                                   .values = heads(KvView::kValues),
                                   .lengths = launch.inputs[3].as<int32_t>(),
                                   .tables = tables.as<int32_t>(),
                                   .table_stride = tables.row_stride(),
                                   .block_tokens = kv.block_tokens,
                                   .num_tokens = q.sizes[0],
                                   .num_blocks = launch.inputs[1].sizes[0]};
    runner_.run(team, operands, max_length(launch.inputs), launch.workspace);
  }
  // All keys and values of every sequence once; a window may need fewer.
  int64_t state_bytes(const Launch& launch) const override {
    const Tensor& lengths = launch.inputs[3];
    int64_t tokens = 0;
    for (int64_t s = 0; s < lengths.sizes[0]; ++s) tokens += lengths.as<int32_t>()[s];
    return KvView(launch.inputs[1]).bytes_of(tokens);
  }
  std::string description() const override { return description_; }

 private:
  static int64_t max_length(std::span<const Tensor> in) { return in[4].sizes[1] * in[1].sizes[3]; }

  AttentionRunner runner_;
  std::string description_;
};

}  // namespace

void register_paged_attention_cpu(KernelRegistry& kernels) {
  kernels.add(
      {.op = "paged_attention",
       .name = "attention_tiles/cpu",
       .device = DeviceKind::kCpu,
       .supports =
           [](const KernelRequest& request) { return request.call.input(0).dtype == DType::kF32 && is_float(request.call.input(1).dtype); },
       .make = [](const KernelRequest& request) -> std::unique_ptr<Kernel> {
         auto& device = static_cast<CpuDevice&>(request.device);
         const DType kv = request.call.input(1).dtype;
         return with_dense_rows(std::make_unique<PagedAttentionKernel>(request.call.as<Attention>(), kv, request.arithmetic, device),
                                {.dense = {1}, .even = {0, 2, 3, 4}});
       }});
}

}  // namespace headrace
