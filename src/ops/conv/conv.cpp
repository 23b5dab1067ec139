#include "ops/conv/conv.h"

#include "ops/reference.h"

namespace headrace {
namespace {

std::vector<TensorType> infer(const OpCall& call) {
  const TensorType &x = call.input(0), &weight = call.input(1);
  const int rank = call.op.name == "conv1d" ? 3 : 4;
  const int64_t groups = call.as<Conv>().groups;
  call.want(is_float(x.dtype) && x.shape.rank() == rank,
            rank == 3 ? "x is wanted as floats (batch, in, length)" : "x is wanted as floats (batch, in, height, width)");
  call.want(is_float(weight.dtype) && weight.shape.rank() == rank,
            "the weight is wanted as floats (out, in / groups, kernel...), with as many axes as x");
  call.want(groups >= 1 && weight.shape[0].divided_by(groups), "groups is wanted as 1 or more, and dividing the weight's outputs");
  if (x.shape[1] != weight.shape[1] * Dim(groups))
    call.reject(fmt::format("x has {} channels, a weight for {} of each of {} groups", x.shape[1].to_string(), weight.shape[1].to_string(),
                            groups));
  if (call.num_inputs() == 3)
    call.want(is_float(call.input(2).dtype) && call.input(2).shape == Shape{weight.shape[0]}, "the bias is wanted as floats (out)");
  TensorType y{x.dtype, slide(call, x.shape, rank - 2, conv_windows(call))};
  y.shape[1] = weight.shape[0];
  return {y};
}

void reference(const OpCall& call, std::span<const Tensor> in, std::span<const Tensor> out) {
  const Windows windows = conv_windows(call);
  const Tensor x = with_height(in[0]), weight = with_height(in[1]), y = with_height(out[0]);
  const std::vector<float> xs = read_floats(x), ws = read_floats(weight);
  const std::vector<float> bias = in.size() == 3 ? read_floats(in[2]) : std::vector<float>(size_t(y.sizes[1]));
  const int64_t outs = y.sizes[1], ins = weight.sizes[1], outs_of_group = outs / call.as<Conv>().groups;
  std::vector<float> ys;
  const auto sum_at = [&](int64_t n, int64_t o, int64_t top, int64_t left) {
    float sum = 0;
    for (int64_t i = 0; i < ins; ++i)
      for (int64_t ky = 0; ky < windows[0].size; ++ky)
        for (int64_t kx = 0; kx < windows[1].size; ++kx) {
          const int64_t h = top + ky * windows[0].dilation, w = left + kx * windows[1].dilation;
          if (h < 0 || h >= x.sizes[2] || w < 0 || w >= x.sizes[3]) continue;
          const int64_t channel = o / outs_of_group * ins + i;
          sum += xs[size_t(((n * x.sizes[1] + channel) * x.sizes[2] + h) * x.sizes[3] + w)] *
                 ws[size_t(((o * ins + i) * windows[0].size + ky) * windows[1].size + kx)];
        }
    return sum + bias[size_t(o)];
  };
  for (int64_t n = 0; n < y.sizes[0]; ++n)
    for (int64_t o = 0; o < outs; ++o)
      for (int64_t h = 0; h < y.sizes[2]; ++h)
        for (int64_t w = 0; w < y.sizes[3]; ++w) ys.push_back(sum_at(n, o, windows[0].begin(h), windows[1].begin(w)));
  write_floats(out[0], ys);
}

}  // namespace

Windows conv_windows(const OpCall& call) {
  const Conv& conv = call.as<Conv>();
  const Shape& weight = call.input(1).shape;
  std::vector<int64_t> size;
  for (int i = 2; i < weight.rank(); ++i) {
    call.want(weight[i].is_constant(), "the weight's kernel is wanted in numbers");
    size.push_back(weight[i].value());
  }
  return windows_of(call, int(size.size()), {size, conv.stride, conv.padding, conv.dilation});
}

void register_conv(OpRegistry& ops) {
  for (const char* name : {"conv1d", "conv2d"})
    ops.add({.name = name,
             .attributes = &attribute_type<Conv>(),
             .min_inputs = 2,
             .max_inputs = 3,
             .infer = infer,
             .reference = reference,
             .row_wise = true});
}

}  // namespace headrace
