#include "ops/rms_norm/rms_norm.h"

#include <cmath>

#include "ops/reference.h"

namespace headrace {
namespace {

std::vector<TensorType> infer(const OpCall& call) {
  const TensorType &x = call.input(0), &weight = call.input(1);
  call.want(is_float(x.dtype) && x.shape.rank() >= 1, "x is wanted as floats with at least one axis");
  call.want(weight.shape == Shape{x.shape[-1]}, "the weight is wanted with the size of x's last axis");
  return {x};
}

void reference(const OpCall& call, std::span<const Tensor> in, std::span<const Tensor> out) {
  const std::vector<float> x = read_floats(in[0]), weight = read_floats(in[1]);
  const size_t hidden = weight.size();
  std::vector<float> y(x.size());
  for (size_t row = 0; row < x.size(); row += hidden) {
    float sum = 0;
    for (size_t i = 0; i < hidden; ++i) sum += x[row + i] * x[row + i];
    const float scale = 1 / std::sqrt(sum / float(hidden) + call.as<RmsNorm>().eps);
    for (size_t i = 0; i < hidden; ++i) y[row + i] = x[row + i] * scale * weight[i];
  }
  write_floats(out[0], y);
}

}  // namespace

void register_rms_norm(OpRegistry& ops) {
  ops.add({.name = "rms_norm", .attributes = &attribute_type<RmsNorm>(), .min_inputs = 2, .max_inputs = 2, .infer = infer, .reference = reference});
}

}  // namespace headrace
