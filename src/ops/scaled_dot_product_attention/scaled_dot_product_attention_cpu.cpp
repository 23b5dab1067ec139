// Without a mask, in fp32, by the tiles of the other attentions: every head is a sequence of its own, whose keys and values are one block
// of a cache.
#include <algorithm>
#include <limits>

#include "core/error.h"
#include "device/cpu/cpu_device.h"
#include "ops/attention/attention_schedule.h"
#include "ops/dense_rows.h"
#include "ops/scaled_dot_product_attention/scaled_dot_product_attention.h"

namespace headrace {
namespace {

bool supports(const KernelRequest& request) {
  const OpCall& call = request.call;
  const auto& a = call.as<ScaledDotProduct>();
  return call.num_inputs() == 3 && call.input(0).dtype == DType::kF32 && a.scale >= 0 &&
         call.input(0).shape[-1] == call.input(2).shape[-1] && (!a.causal || call.input(0).shape[-2] == call.input(1).shape[-2]);
}

Attention one_head(const OpCall& call) {
  const auto& a = call.as<ScaledDotProduct>();
  return {.heads = 1, .kv_heads = 1, .head_dim = int(call.input(0).shape[-1].value()), .scale = a.scale, .causal = a.causal};
}

class ScaledDotProductTiles : public CpuKernel {
 public:
  explicit ScaledDotProductTiles(const KernelRequest& request)
      : isa_(static_cast<CpuDevice&>(request.device).isa()), width_(request.call.input(0).shape[-1].value()),
        runner_(one_head(request.call), isa_, DType::kF32, Arithmetic::kExact, static_cast<CpuDevice&>(request.device).pool().size()) {}

  size_t workspace_bytes(std::span<const Tensor> in, std::span<const Tensor>) const override {
    const Sequences s(in);
    return s.bytes() + runner_.workspace_bytes(s.count, s.keys);
  }

  void run(Team& team, const Launch& launch) const override {
    const Tensor &q = launch.inputs[0], &k = launch.inputs[1], &v = launch.inputs[2], &y = launch.outputs[0];
    const Sequences s(launch.inputs);
    if (s.keys == 0) {
      const auto [begin, end] = team.share(y.numel());
      std::fill(y.as<float>() + begin, y.as<float>() + end, 0.0f);
      return;
    }
    if (y.numel() == 0) return;
    int32_t* const offsets = reinterpret_cast<int32_t*>(launch.workspace);
    int32_t *const lengths = offsets + s.count + 1, *const tables = lengths + s.count;
    if (team.rank() == 0) s.fill(offsets, lengths, tables);
    team.barrier();
    const auto heads = [&](const Tensor& x) {
      const int64_t token_bytes = x.row_stride() * int64_t(sizeof(float));
      return AttentionLaunch::Heads{{x.as<std::byte>(), s.keys * token_bytes, token_bytes}, 0};
    };
    const AttentionLaunch operands{.q = q.as<float>(),
                                   .y = y.as<float>(),
                                   .q_stride = q.row_stride(),
                                   .y_stride = width_,
                                   .offsets = offsets,
                                   .num_sequences = s.count,
                                   .keys = heads(k),
                                   .values = heads(v),
                                   .lengths = lengths,
                                   .tables = tables,
                                   .table_stride = 1,
                                   .block_tokens = s.keys,
                                   .num_tokens = s.heads * s.queries,
                                   .num_blocks = s.heads / s.group};
    runner_.run(team, operands, s.keys, launch.workspace + s.bytes());
  }

  std::string description() const override { return "scaled_dot_product_attention/tiles f32 " + std::string(name(isa_)); }

 private:
  // Heads of all batches, each cut so that no sequence has more queries than keys: the tiles take queries for a sequence's last tokens.
  struct Sequences {
    explicit Sequences(std::span<const Tensor> in)
        : queries(in[0].sizes[-2]), keys(in[1].sizes[-2]), group(in[1].sizes[-3] == 0 ? 1 : in[0].sizes[-3] / in[1].sizes[-3]) {
      for (int axis = 0; axis < in[0].rank() - 2; ++axis) heads *= in[0].sizes[axis];
      part = std::max<int64_t>(std::min(queries, keys), 1);
      parts = (queries + part - 1) / part;
      count = heads * parts;
      if (heads * queries > std::numeric_limits<int32_t>::max())
        invalid("scaled_dot_product_attention: {} queries at once are too many", heads * queries);
    }
    size_t bytes() const { return (size_t(3 * count + 1) * sizeof(int32_t) + 63) / 64 * 64; }
    void fill(int32_t* offsets, int32_t* lengths, int32_t* tables) const {
      for (int64_t i = 0; i < count; ++i) {
        offsets[i] = int32_t(i / parts * queries + i % parts * part);
        lengths[i] = int32_t(keys);
        tables[i] = int32_t(i / parts / group);
      }
      offsets[count] = int32_t(heads * queries);
    }

    int64_t queries, keys, group, heads = 1, part = 1, parts = 0, count = 0;
  };

  CpuIsa isa_;
  int64_t width_;
  AttentionRunner runner_;
};

}  // namespace

void register_scaled_dot_product_attention_cpu(KernelRegistry& kernels) {
  kernels.add({.op = "scaled_dot_product_attention",
               .name = "tiles/cpu",
               .supports = supports,
               .make = [](const KernelRequest& request) -> std::unique_ptr<Kernel> {
                 return with_dense_rows(std::make_unique<ScaledDotProductTiles>(request), {.even = {0, 1, 2}});
               }});
}

}  // namespace headrace
