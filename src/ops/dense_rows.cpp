#include "ops/dense_rows.h"

#include "core/error.h"
#include "ops/strided_loop.h"

namespace headrace {
namespace {

bool has_dense_rows(const Tensor& t) { return t.rank() == 0 || t.sizes[-1] <= 1 || t.strides[-1] == 1; }

bool has_even_rows(const Tensor& t) {
  for (int axis = t.rank() - 3; axis >= 0; --axis)
    if (t.strides[axis] != t.strides[axis + 1] * t.sizes[axis + 1]) return false;
  return has_dense_rows(t);
}

size_t copy_bytes(const Tensor& t) { return (size_t(t.bytes()) + 63) / 64 * 64; }

class DenseRowsKernel : public CpuKernel {
 public:
  DenseRowsKernel(std::unique_ptr<CpuKernel> kernel, RowNeeds needs) : kernel_(std::move(kernel)), needs_(std::move(needs)) {}

  size_t workspace_bytes(std::span<const Tensor> inputs, std::span<const Tensor> outputs) const override {
    for (int i : needs_.in_place)
      if (const Tensor& t = inputs[size_t(i)]; !has_dense_rows(t))
        fail(ErrorCode::kUnsupported, "{}: operand {} {} is changed in place and its last axis has stride {}; only 1 will do",
             description(), i, t.sizes.to_string(), t.strides[-1]);
    size_t bytes = 0;
    for_each_unfit(inputs, [&](int i) { bytes += copy_bytes(inputs[size_t(i)]); });
    if (bytes == 0) return kernel_->workspace_bytes(inputs, outputs);
    std::vector<Tensor> seen(inputs.begin(), inputs.end());
    for_each_unfit(inputs, [&](int i) {
      Tensor& t = seen[size_t(i)];
      t = Tensor::contiguous(static_cast<void*>(nullptr), t.dtype, t.sizes);
    });
    return bytes + kernel_->workspace_bytes(seen, outputs);
  }

  void run(Team& team, const Launch& launch) const override {
    bool fits = true;
    for_each_unfit(launch.inputs, [&](int) { fits = false; });
    if (fits) return kernel_->run(team, launch);
    Launch dense = launch;
    for_each_unfit(launch.inputs, [&](int i) {
      Tensor& t = dense.inputs[size_t(i)];
      t = Tensor::contiguous(static_cast<void*>(dense.workspace), t.dtype, t.sizes);
      copy_strided(team, launch.inputs[size_t(i)], t);
      dense.workspace += copy_bytes(t);
    });
    team.barrier();
    kernel_->run(team, dense);
  }

  bool reads_constants() const override { return kernel_->reads_constants(); }
  int64_t held_bytes() const override { return kernel_->held_bytes(); }
  int64_t state_bytes(const Launch& launch) const override { return kernel_->state_bytes(launch); }
  std::string description() const override { return kernel_->description(); }

 private:
  template <typename Function>
  void for_each_unfit(std::span<const Tensor> inputs, Function&& function) const {
    for (int i : needs_.dense)
      if (!has_dense_rows(inputs[size_t(i)])) function(i);
    for (int i : needs_.even)
      if (!has_even_rows(inputs[size_t(i)])) function(i);
  }

  std::unique_ptr<CpuKernel> kernel_;
  RowNeeds needs_;
};

}  // namespace

std::unique_ptr<Kernel> with_dense_rows(std::unique_ptr<CpuKernel> kernel, RowNeeds needs) {
  return std::make_unique<DenseRowsKernel>(std::move(kernel), std::move(needs));
}

}  // namespace headrace
