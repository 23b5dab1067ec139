#include "ops/group_norm/group_norm.h"

#include <cmath>

#include "ops/reference.h"

namespace headrace {
namespace {

std::vector<TensorType> infer(const OpCall& call) {
  const TensorType& x = call.input(0);
  const int64_t groups = call.as<GroupNorm>().groups;
  call.want(is_float(x.dtype) && x.shape.rank() >= 2, "x is wanted as floats (batch, channels, ...)");
  call.want(groups >= 1 && x.shape[1].divided_by(groups), "groups is wanted as 1 or more, and dividing the channels");
  for (int i = 1; i < call.num_inputs(); ++i)
    call.want(is_float(call.input(i).dtype) && call.input(i).shape == Shape{x.shape[1]},
              "weight and bias are wanted as floats, as many as x has channels");
  return {x};
}

void reference(const OpCall& call, std::span<const Tensor> in, std::span<const Tensor> out) {
  const GroupNorm& norm = call.as<GroupNorm>();
  const size_t channels = size_t(in[0].sizes[1]), places = size_t(AxisSplit(in[0].sizes, 1).inner);
  const size_t of_group = channels / size_t(norm.groups) * places;
  std::vector<float> x = read_floats(in[0]);
  const std::vector<float> weight = in.size() > 1 ? read_floats(in[1]) : std::vector<float>(channels, 1.0f);
  const std::vector<float> bias = in.size() > 2 ? read_floats(in[2]) : std::vector<float>(channels, 0.0f);
  for (size_t begin = 0; begin < x.size(); begin += of_group) {
    double sum = 0, squares = 0;
    for (size_t i = begin; i < begin + of_group; ++i) sum += x[i];
    const double mean = sum / double(of_group);
    for (size_t i = begin; i < begin + of_group; ++i) squares += (x[i] - mean) * (x[i] - mean);
    const double scale = 1 / std::sqrt(squares / double(of_group) + norm.eps);
    for (size_t i = begin; i < begin + of_group; ++i) {
      const size_t channel = i / places % channels;
      x[i] = float((x[i] - mean) * scale) * weight[channel] + bias[channel];
    }
  }
  write_floats(out[0], x);
}

}  // namespace

void register_group_norm(OpRegistry& ops) {
  ops.add({.name = "group_norm",
           .attributes = &attribute_type<GroupNorm>(),
           .min_inputs = 1,
           .max_inputs = 3,
           .infer = infer,
           .reference = reference,
           .row_wise = true});
}

}  // namespace headrace
