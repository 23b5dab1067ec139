#include "ops/fused_linear/fused_linear.h"

#include <algorithm>
#include <cmath>

#include "headrace/functional.h"
#include "ops/reference.h"

namespace headrace {

FusedLinearOperands::FusedLinearOperands(const FusedLinear& a) {
  int next = 1;
  if (a.norm != FusedLinear::Norm::kNone) norm_weight = next++;
  if (a.norm_bias) norm_bias = next++;
  first_weight = next;
  next += int(a.num_weights);
  if (a.bias) first_bias = next, next += int(a.num_weights);
  if (a.residual) residual = next++;
  count = next;
}

namespace {

std::vector<TensorType> infer(const OpCall& call) {
  const auto& a = call.as<FusedLinear>();
  call.want(a.num_weights >= 1 && a.num_weights <= 64, "1 to 64 weights are wanted");
  call.want(!a.norm_bias || a.norm == FusedLinear::Norm::kLayer, "only a layer norm has a bias");
  call.want(!a.gated || (a.num_weights == 2 && a.activation != FusedLinear::Activation::kNone),
            "gated wants two weights and an activation");
  const FusedLinearOperands at(a);
  call.want(call.num_inputs() == at.count, fmt::format("{} operands follow from the attributes", at.count));
  const TensorType& x = call.input(0);
  call.want(is_float(x.dtype) && x.shape.rank() >= 1, "x is wanted as floats with at least one axis");
  for (int i : {at.norm_weight, at.norm_bias})
    if (i >= 0)
      call.want(call.input(i).shape == Shape{x.shape[-1]}, "the norm's weight and bias are wanted with the size of x's last axis");
  Dim out = 0;
  for (int i = 0; i < int(a.num_weights); ++i) {
    const TensorType& w = call.input(at.first_weight + i);
    call.want(w.shape.rank() == 2 && w.shape[1] == x.shape[-1], "weights are wanted as (out, in) with in = x's last size");
    if (a.gated) call.want(w.shape == call.input(at.first_weight).shape, "gate and up are wanted with equal shapes");
    if (a.bias) call.want(call.input(at.first_bias + i).shape == Shape{w.shape[0]}, "a bias is wanted as (out)");
    out = a.gated ? w.shape[0] : out + w.shape[0];
  }
  TensorType y = x;
  y.shape[-1] = out;
  if (a.residual) call.want(call.input(at.residual) == y, "the residual is wanted with the result's type");
  return {y};
}

Value activate(Value x, FusedLinear::Activation activation) {
  switch (activation) {
    case FusedLinear::Activation::kNone: return x;
    case FusedLinear::Activation::kSilu: return silu(x);
    case FusedLinear::Activation::kGelu: return gelu(x);
    case FusedLinear::Activation::kGeluTanh: return gelu(x, GeluApproximation::kTanh);
    case FusedLinear::Activation::kRelu: return relu(x);
  }
  return x;
}

std::vector<Value> decompose(Graph&, const Node& node, std::span<const Value> in) {
  const auto& a = node.attributes_as<FusedLinear>();
  const FusedLinearOperands at(a);
  Value x = in[0];
  if (a.norm == FusedLinear::Norm::kRms) x = rms_norm(x, in[at.norm_weight], a.eps);
  if (a.norm == FusedLinear::Norm::kLayer) x = layer_norm(x, in[at.norm_weight], a.norm_bias ? in[at.norm_bias] : Value(), a.eps);
  std::vector<Value> parts;
  for (int i = 0; i < int(a.num_weights); ++i) {
    const Value w = in[at.first_weight + i];
    parts.push_back(a.bias ? linear(x, w, in[at.first_bias + i]) : linear(x, w));
  }
  Value y;
  if (a.gated) y = mul(activate(parts[0], a.activation), parts[1]);
  else y = activate(parts.size() == 1 ? parts[0] : concat(parts, -1), a.activation);
  if (a.residual) y = add(y, in[at.residual]);
  return {y};
}

// The same, spelt out in scalars.
void reference(const OpCall& call, std::span<const Tensor> in, std::span<const Tensor> out) {
  const auto& a = call.as<FusedLinear>();
  const FusedLinearOperands at(a);
  const size_t ins = size_t(in[0].sizes[-1]), outs = size_t(out[0].sizes[-1]);
  const size_t rows = outs ? size_t(out[0].numel()) / outs : 0;  // also of rows without elements
  std::vector<float> x = read_floats(in[0]);
  if (a.norm != FusedLinear::Norm::kNone) {
    const std::vector<float> weight = read_floats(in[at.norm_weight]);
    const std::vector<float> bias = a.norm_bias ? read_floats(in[at.norm_bias]) : std::vector<float>(ins);
    for (size_t r = 0; r < rows; ++r) {
      float mean = 0, square = 0;
      for (size_t i = 0; i < ins; ++i) mean += x[r * ins + i] / float(ins);
      if (a.norm == FusedLinear::Norm::kRms) mean = 0;
      for (size_t i = 0; i < ins; ++i) square += (x[r * ins + i] - mean) * (x[r * ins + i] - mean) / float(ins);
      for (size_t i = 0; i < ins; ++i) x[r * ins + i] = (x[r * ins + i] - mean) / std::sqrt(square + a.eps) * weight[i] + bias[i];
    }
  }
  std::vector<float> y(rows * outs);
  size_t column = 0;
  const auto act = [&](float v) {
    switch (a.activation) {
      case FusedLinear::Activation::kNone: return v;
      case FusedLinear::Activation::kSilu: return v / (1 + std::exp(-v));
      case FusedLinear::Activation::kGelu: return 0.5f * v * (1 + std::erf(v * 0.70710678f));
      case FusedLinear::Activation::kGeluTanh: return 0.5f * v * (1 + std::tanh(0.7978845608f * (v + 0.044715f * v * v * v)));
      case FusedLinear::Activation::kRelu: return std::max(v, 0.0f);
    }
    return v;
  };
  for (int k = 0; k < int(a.num_weights); ++k) {
    const std::vector<float> weight = read_floats(in[at.first_weight + k]);
    const std::vector<float> bias = a.bias ? read_floats(in[at.first_bias + k]) : std::vector<float>();
    const size_t width = size_t(in[at.first_weight + k].sizes[0]);
    for (size_t r = 0; r < rows; ++r)
      for (size_t o = 0; o < width; ++o) {
        float sum = bias.empty() ? 0 : bias[o];
        for (size_t i = 0; i < ins; ++i) sum += x[r * ins + i] * weight[o * ins + i];
        float& to = y[r * outs + (a.gated ? o : column + o)];
        if (!a.gated) to = act(sum);
        else to = k == 0 ? act(sum) : to * sum;
      }
    column += width;
  }
  if (a.residual) {
    const std::vector<float> residual = read_floats(in[at.residual]);
    for (size_t i = 0; i < y.size(); ++i) y[i] += residual[i];
  }
  write_floats(out[0], y);
}

}  // namespace

void register_fused_linear(OpRegistry& ops) {
  ops.add({.name = "fused_linear",
           .attributes = &attribute_type<FusedLinear>(),
           .min_inputs = 2,
           .max_inputs = 256,
           .infer = infer,
           .reference = reference,
           .decompose = decompose,
           .row_wise = true});
}

}  // namespace headrace
