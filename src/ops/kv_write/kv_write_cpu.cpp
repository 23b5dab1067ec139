#include "core/error.h"
#include "ops/dense_rows.h"
#include "ops/for_isa.h"
#include "ops/kv_write/kv_write.h"

#define HEADRACE_FOR_EACH_ISA "ops/kv_write/store_vector.inl.h"
#include "ops/each_isa.inl.h"

namespace headrace {
namespace {

class KvWriteKernel : public CpuKernel {
 public:
  KvWriteKernel(DType kv, CpuIsa isa) : description_(fmt::format("kv_write/{} {}", name(kv), name(isa))) {
    const auto pick = [&]<typename T>() {
      return for_isa(isa, baseline::store_vector<T>, avx2::store_vector<T>, avx512vnni::store_vector<T>);
    };
    store_ = kv == DType::kF16 ? pick.operator()<Half>() : kv == DType::kBF16 ? pick.operator()<BFloat16>() : pick.operator()<float>();
  }
  void run(Team& team, const Launch& launch) const override {
    const KvView kv(launch.inputs[0]);
    const int64_t kv_heads = launch.inputs[0].sizes[2], head_dim = launch.inputs[0].sizes[4];
    const int32_t* slots = launch.inputs[3].as<int32_t>();
    const auto [begin, end] = team.share(launch.inputs[3].sizes[0]);
    for (int64_t token = begin; token < end; ++token)
      for (int64_t head = 0; head < kv_heads && kv.has(slots[token]); ++head)
        for (const KvView::Part part : {KvView::kKeys, KvView::kValues})
          store_(launch.inputs[part == KvView::kKeys ? 1 : 2].row<float>(token) + head * head_dim, kv.vector(slots[token], part, head),
                 head_dim);
  }
  int64_t state_bytes(const Launch& launch) const override { return KvView(launch.inputs[0]).bytes_of(launch.inputs[3].sizes[0]); }
  std::string description() const override { return description_; }

 private:
  std::string description_;
  void (*store_)(const float*, void*, int64_t);
};

}  // namespace

void register_kv_write_cpu(KernelRegistry& kernels) {
  kernels.add(
      {.op = "kv_write",
       .name = "kv_write/cpu",
       .device = DeviceKind::kCpu,
       .supports =
           [](const KernelRequest& request) { return is_float(request.call.input(0).dtype) && request.call.input(1).dtype == DType::kF32; },
       .make = [](const KernelRequest& request) -> std::unique_ptr<Kernel> {
         return with_dense_rows(std::make_unique<KvWriteKernel>(request.call.input(0).dtype, cpu_isa(request)),
                                {.even = {1, 2, 3}, .in_place = {0}});
       }});
}

}  // namespace headrace
