// The table: threads share its angles. The turning: threads share heads, so that one token is shared too.
#include <algorithm>
#include <cmath>

#include "ops/for_isa.h"
#include "ops/rope/rope.h"
#include "ops/strided_loop.h"

#define HEADRACE_FOR_EACH_ISA "ops/rope/rope.inl.h"
#include "ops/each_isa.inl.h"

namespace headrace {
namespace {

class RopeTableKernel : public CpuKernel {
 public:
  explicit RopeTableKernel(const KernelRequest& request) : rope_(request.call.as<RopeTable>()) {}

  void run(Team& team, const Launch& launch) const override {
    const Tensor &positions = launch.inputs[0], &frequencies = launch.inputs[1];
    const int64_t half = frequencies.sizes[0];
    const auto [begin, end] = team.share(positions.sizes[0] * half, 16);
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t token = unit / half, i = unit % half;
      const Tensor& turning = launch.inputs.size() == 4 && is_long(launch.inputs[2], token) ? launch.inputs[3] : frequencies;
      const float angle = float(positions.as<int32_t>()[token * positions.strides[0]]) * turning.as<float>()[i * turning.strides[0]];
      float* row = launch.outputs[0].as<float>() + token * 2 * half;
      row[i] = float(std::cos(double(angle))) * rope_.scale;
      row[half + i] = float(std::sin(double(angle))) * rope_.scale;
    }
  }
  std::string description() const override { return "rope_table/angles"; }

 private:
  bool is_long(const Tensor& reach, int64_t token) const { return reach.as<int32_t>()[token * reach.strides[0]] > rope_.longest_short; }
  RopeTable rope_;
};

bool supports(const KernelRequest& request) { return request.call.input(0).dtype == DType::kF32; }

class RopeHeads : public CpuKernel {
 public:
  explicit RopeHeads(const KernelRequest& request) : isa_(cpu_isa(request)), rope_(request.call.as<Rope>()) {}

  void run(Team& team, const Launch& launch) const override {
    const Tensor &x = launch.inputs[0], &table = launch.inputs[1], &out = launch.outputs[0];
    const int64_t rotary_dim = table.sizes[1], half = rotary_dim / 2, heads = x.sizes[1] / rope_.head_dim, step = x.strides[1];
    const auto turn = rope_.interleaved ? for_isa(isa_, baseline::rope_pairs, avx2::rope_pairs, avx512vnni::rope_pairs)
                                        : for_isa(isa_, baseline::rope_halves, avx2::rope_halves, avx512vnni::rope_halves);
    const auto [begin, end] = team.share(x.sizes[0] * heads);
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t token = unit / heads, head = unit % heads;
      float* to = out.as<float>() + (token * heads + head) * rope_.head_dim;
      const float* from = dense(x.as<float>() + token * x.strides[0] + head * rope_.head_dim * step, step, rope_.head_dim, to);
      if (from != to) std::copy(from + rotary_dim, from + rope_.head_dim, to + rotary_dim);
      const float* angles = table.as<float>() + token * table.strides[0];
      if (table.strides[1] == 1 || rotary_dim <= 1) turn(from, angles, angles + half, to, half);
      else turn_strided(from, angles, table.strides[1], to, half);
    }
  }
  std::string description() const override { return "rope/heads " + std::string(name(isa_)); }

 private:
  // A table whose rows are not dense, pair by pair.
  void turn_strided(const float* from, const float* angles, int64_t step, float* to, int64_t half) const {
    for (int64_t i = 0; i < half; ++i) {
      const int64_t first = rope_.interleaved ? 2 * i : i, second = rope_.interleaved ? 2 * i + 1 : i + half;
      const float a = from[first], b = from[second], c = angles[i * step], s = angles[(half + i) * step];
      to[first] = a * c - b * s;
      to[second] = b * c + a * s;
    }
  }

  CpuIsa isa_;
  Rope rope_;
};

}  // namespace

void register_rope_cpu(KernelRegistry& kernels) {
  kernels.add({.op = "rope_table", .name = "angles/cpu", .supports = supports_all, .make = make_as<RopeTableKernel>});
  kernels.add({.op = "rope", .name = "heads/cpu", .supports = supports, .make = make_as<RopeHeads>});
}

}  // namespace headrace
