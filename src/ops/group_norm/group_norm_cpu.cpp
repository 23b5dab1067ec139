// Group normalization of f32: threads share the groups. Those that are not dense are gathered where the results will be.
#include <algorithm>

#include "ops/for_isa.h"
#include "ops/group_norm/group_norm.h"
#include "ops/strided_loop.h"
#include "ops/vector_operand.h"

#define HEADRACE_FOR_EACH_ISA "ops/group_norm/group_norm.inl.h"
#include "ops/each_isa.inl.h"

namespace headrace {
namespace {

bool supports(const KernelRequest& request) {
  for (int i = 1; i < request.call.num_inputs(); ++i)
    if (!VectorOperand::supports(request, i)) return false;
  return request.call.input(0).dtype == DType::kF32;
}

class GroupNormGroups : public CpuKernel {
 public:
  explicit GroupNormGroups(const KernelRequest& request)
      : isa_(cpu_isa(request)), norm_(request.call.as<GroupNorm>()),
        weight_(request.call.num_inputs() > 1 ? VectorOperand(request, 1) : VectorOperand()),
        bias_(request.call.num_inputs() > 2 ? VectorOperand(request, 2) : VectorOperand()) {}

  size_t workspace_bytes(std::span<const Tensor> inputs, std::span<const Tensor>) const override {
    return weight_.workspace_bytes(inputs) + bias_.workspace_bytes(inputs);
  }

  void run(Team& team, const Launch& launch) const override {
    const Tensor &x = launch.inputs[0], &y = launch.outputs[0];
    const float* weight = weight_.get(team, launch.inputs, launch.workspace);
    const float* bias = bias_.get(team, launch.inputs, launch.workspace + weight_.workspace_bytes(launch.inputs));
    const Rows rows(x);
    const auto group_function = for_isa(isa_, baseline::group_norm_group, avx2::group_norm_group, avx512vnni::group_norm_group);
    if (y.numel() == 0) return;
    const int64_t channels = x.sizes[1] / norm_.groups, of_group = y.numel() / (x.sizes[0] * norm_.groups), length = rows.length();
    const bool dense_groups = x.is_contiguous();
    const auto [begin, end] = team.share(x.sizes[0] * norm_.groups);
    for (int64_t group = begin; group < end; ++group) {
      const int64_t channel = group % norm_.groups * channels;
      float* out = y.as<float>() + group * of_group;
      const float* from = dense_groups ? x.as<float>() + group * of_group : out;
      for (int64_t i = 0, n; !dense_groups && i < of_group; i += n) {
        const int64_t at = group * of_group + i, begin_of_run = at % length;
        n = std::min(length - begin_of_run, of_group - i);
        read_run(x, rows.offset(at / length) + begin_of_run * rows.step(), rows.step(), out + i, n);
      }
      group_function(from, weight ? weight + channel : nullptr, bias ? bias + channel : nullptr, norm_.eps, channels, of_group / channels,
                     out);
    }
  }
  std::string description() const override { return "group_norm/groups " + std::string(name(isa_)); }

 private:
  CpuIsa isa_;
  GroupNorm norm_;
  VectorOperand weight_, bias_;
};

}  // namespace

void register_group_norm_cpu(KernelRegistry& kernels) {
  kernels.add({.op = "group_norm", .name = "groups/cpu", .supports = supports, .make = make_as<GroupNormGroups>});
}

}  // namespace headrace
