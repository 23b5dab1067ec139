#include "core/error.h"
#include "ops/dense_rows.h"
#include "ops/for_isa.h"
#include "ops/kv_write/kv_write.h"
#include "ops/qkv_post/qkv_post.h"

namespace headrace {
namespace {

// How the heads of q, or those of k, are rotated. A head without norm has no weight; one that is only copied has rotary_dim 0.
struct HeadRotation {
  int head_dim, rotary_dim;
  bool interleaved;
  float eps;
  const float* weight;  // (head_dim)
};

}  // namespace
}  // namespace headrace

#define HEADRACE_FOR_EACH_ISA "ops/qkv_post/rotate_head.inl.h"
#include "ops/each_isa.inl.h"

namespace headrace {
namespace {

using RotateHead = void (*)(const HeadRotation&, const float* x, const float* table, void* to);

RotateHead rotate_head(CpuIsa isa, DType to) {
  const auto pick = [&]<typename T>() { return for_isa(isa, baseline::rotate_head<T>, avx2::rotate_head<T>, avx512vnni::rotate_head<T>); };
  return to == DType::kF16 ? pick.operator()<Half>() : to == DType::kBF16 ? pick.operator()<BFloat16>() : pick.operator()<float>();
}

// One head after the other: q's, k's, v's of a token. Heads of all tokens are shared out among the threads.
class QkvPostKernel : public CpuKernel {
 public:
  QkvPostKernel(const QkvPost& attributes, DType kv, CpuIsa isa)
      : a_(attributes), to_cache_(rotate_head(isa, kv)), to_q_(rotate_head(isa, DType::kF32)),
        description_(fmt::format("qkv_post/{} {}", name(kv), name(isa))) {}

  void run(Team& team, const Launch& launch) const override {
    const std::vector<Tensor>& in = launch.inputs;
    const KvView kv(in[0]);
    const int rotary_dim = int(in[4].sizes[1]), heads = a_.heads + 2 * a_.kv_heads;
    const HeadRotation q{a_.head_dim, rotary_dim, a_.interleaved, a_.eps, a_.qk_norm ? in[6].as<float>() : nullptr};
    const HeadRotation k{a_.head_dim, rotary_dim, a_.interleaved, a_.eps, a_.qk_norm ? in[7].as<float>() : nullptr};
    const HeadRotation v{a_.head_dim, 0, false, 0, nullptr};
    const auto [begin, end] = team.share(in[1].sizes[0] * heads);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t token = i / heads, head = i % heads, slot = in[5].as<int32_t>()[token];
      const float* table = in[4].row<float>(token);
      if (head < a_.heads) {
        to_q_(q, in[1].row<float>(token) + head * a_.head_dim, table, launch.outputs[1].row<float>(token) + head * a_.head_dim);
      } else if (kv.has(slot)) {
        const bool is_key = head < a_.heads + a_.kv_heads;
        const int64_t kv_head = head - a_.heads - (is_key ? 0 : a_.kv_heads);
        to_cache_(is_key ? k : v, in[is_key ? 2 : 3].row<float>(token) + kv_head * a_.head_dim, table,
                  kv.vector(slot, is_key ? KvView::kKeys : KvView::kValues, kv_head));
      }
    }
  }
  int64_t state_bytes(const Launch& launch) const override { return KvView(launch.inputs[0]).bytes_of(launch.inputs[5].sizes[0]); }
  std::string description() const override { return description_; }

 private:
  QkvPost a_;
  RotateHead to_cache_, to_q_;
  std::string description_;
};

}  // namespace

void register_qkv_post_cpu(KernelRegistry& kernels) {
  kernels.add({.op = "qkv_post",
               .name = "qkv_post/cpu",
               .device = DeviceKind::kCpu,
               .supports =
                   [](const KernelRequest& request) {
                     const OpCall& call = request.call;
                     for (int i = 1; i < call.num_inputs(); ++i)
                       if (i != 5 && call.input(i).dtype != DType::kF32) return false;
                     return is_float(call.input(0).dtype);
                   },
               .make = [](const KernelRequest& request) -> std::unique_ptr<Kernel> {
                 RowNeeds needs{.even = {1, 2, 3, 4, 5}, .in_place = {0}};
                 for (int i = 6; i < request.call.num_inputs(); ++i) needs.even.push_back(i);
                 const DType kv = request.call.input(0).dtype;
                 auto kernel = std::make_unique<QkvPostKernel>(request.call.as<QkvPost>(), kv, cpu_isa(request));
                 return with_dense_rows(std::move(kernel), std::move(needs));
               }});
}

}  // namespace headrace
