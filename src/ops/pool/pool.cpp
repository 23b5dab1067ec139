#include "ops/pool/pool.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/reference.h"

namespace headrace {
namespace {

constexpr const char* kNames[] = {"max_pool1d", "max_pool2d", "avg_pool1d", "avg_pool2d"};

int num_axes(const OpCall& call) { return call.op.name.ends_with("1d") ? 1 : 2; }

std::vector<TensorType> infer(const OpCall& call) {
  const TensorType& x = call.input(0);
  const int axes = num_axes(call);
  call.want(is_float(x.dtype), "x is wanted as floats");
  call.want(x.shape.rank() == axes + 1 || x.shape.rank() == axes + 2,
            axes == 1 ? "x is wanted as (batch, channels, length) or (channels, length)"
                      : "x is wanted as (batch, channels, height, width) or (channels, height, width)");
  const Pooling pooling = pooling_of(call);
  for (const Window& w : pooling.windows)
    call.want(w.padding <= ((w.size - 1) * w.dilation + 1) / 2, "padding is wanted as at most half of what the window reaches over");
  return {{x.dtype, slide(call, x.shape, axes, pooling.windows)}};
}

void reference(const OpCall& call, std::span<const Tensor> in, std::span<const Tensor> out) {
  const Pooling pooling = pooling_of(call);
  const bool flat = num_axes(call) == 1;
  const auto height = [&](const Tensor& t) { return flat ? 1 : t.sizes[-2]; };
  const int64_t h = height(in[0]), w = in[0].sizes[-1], out_h = height(out[0]), out_w = out[0].sizes[-1];
  const std::vector<float> x = read_floats(in[0]);
  std::vector<float> y(static_cast<size_t>(out[0].numel()));
  for (int64_t i = 0; i < int64_t(y.size()); ++i) {
    const int64_t plane = i / (out_h * out_w), row = i / out_w % out_h, column = i % out_w;
    const Window &down = pooling.windows[0], &across = pooling.windows[1];
    float largest = -std::numeric_limits<float>::infinity(), sum = 0;
    int64_t count = 0;
    for (int64_t ky = 0; ky < down.size; ++ky)
      for (int64_t kx = 0; kx < across.size; ++kx) {
        const int64_t at_row = down.begin(row) + ky * down.dilation, at_column = across.begin(column) + kx * across.dilation;
        if (at_row < 0 || at_row >= h || at_column < 0 || at_column >= w) continue;
        const float value = x[size_t((plane * h + at_row) * w + at_column)];
        if (std::isnan(value) || value > largest) largest = value;
        sum += value;
        ++count;
      }
    if (pooling.counts_padding) count = down.size * across.size;
    y[size_t(i)] = pooling.is_max ? largest : sum / float(count);
  }
  write_floats(out[0], y);
}

}  // namespace

Pooling pooling_of(const OpCall& call) {
  const int axes = num_axes(call);
  if (call.op.name.starts_with("max")) {
    const MaxPool& a = call.as<MaxPool>();
    return {.is_max = true, .windows = windows_of(call, axes, {a.kernel_size, a.stride, a.padding, a.dilation})};
  }
  const AvgPool& a = call.as<AvgPool>();
  return {.counts_padding = a.count_include_pad, .windows = windows_of(call, axes, {a.kernel_size, a.stride, a.padding, {1}})};
}

void register_pool(OpRegistry& ops) {
  for (const std::string name : kNames)
    ops.add({.name = name,
             .attributes = name.starts_with("max") ? &attribute_type<MaxPool>() : &attribute_type<AvgPool>(),
             .min_inputs = 1,
             .max_inputs = 1,
             .infer = infer,
             .reference = reference,
             .row_wise = true});
}

}  // namespace headrace
