#include "ops/linear/linear.h"

#include "ops/reference.h"

namespace headrace {
namespace {

std::vector<TensorType> infer(const OpCall& call) {
  const TensorType &x = call.input(0), &weight = call.input(1);
  call.want(is_float(x.dtype) && x.shape.rank() >= 1, "x is wanted as floats with at least one axis");
  call.want(weight.shape.rank() == 2 && weight.shape[1] == x.shape[-1], "the weight is wanted as (out, in) with in = x's last size");
  call.want(is_float(weight.dtype) || is_block(weight.dtype), "the weight is wanted as floats or a block type");
  if (call.num_inputs() == 3) call.want(call.input(2).shape == Shape{weight.shape[0]}, "the bias is wanted as (out)");
  TensorType y = x;
  y.shape[-1] = weight.shape[0];
  return {y};
}

void reference(const OpCall&, std::span<const Tensor> in, std::span<const Tensor> out) {
  const std::vector<float> x = read_floats(in[0]), weight = read_floats(in[1]);
  const std::vector<float> bias = in.size() == 3 ? read_floats(in[2]) : std::vector<float>();
  const size_t outs = size_t(in[1].sizes[0]), ins = size_t(in[1].sizes[1]);
  const size_t rows = outs ? size_t(out[0].numel()) / outs : 0;  // also of rows without elements
  std::vector<float> y(rows * outs);
  for (size_t r = 0; r < rows; ++r)
    for (size_t o = 0; o < outs; ++o) {
      float sum = 0;
      for (size_t i = 0; i < ins; ++i) sum += x[r * ins + i] * weight[o * ins + i];
      y[r * outs + o] = sum + (bias.empty() ? 0 : bias[o]);
    }
  write_floats(out[0], y);
}

}  // namespace

void register_linear(OpRegistry& ops) {
  ops.add({.name = "linear",
           .attributes = &attribute_type<Linear>(),
           .min_inputs = 2,
           .max_inputs = 3,
           .infer = infer,
           .reference = reference,
           .row_wise = true});
}

}  // namespace headrace
