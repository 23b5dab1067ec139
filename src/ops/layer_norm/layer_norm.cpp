#include "ops/layer_norm/layer_norm.h"

#include <cmath>

#include "ops/reference.h"
#include "ops/spelling.h"

namespace headrace {
namespace {

// Operands from `first` on are the weight and the bias, as far as there are any.
void want_normable(const OpCall& call, int first) {
  const TensorType& x = call.input(0);
  call.want(is_float(x.dtype) && x.shape.rank() >= 1, "x is wanted as floats with at least one axis");
  for (int i = first; i < call.num_inputs(); ++i)
    call.want(is_float(call.input(i).dtype) && call.input(i).shape == Shape{x.shape[-1]},
              "weight and bias are wanted as floats, as many as x's last axis has");
}

std::vector<TensorType> infer(const OpCall& call) {
  want_normable(call, 1);
  return {call.input(0)};
}

std::vector<TensorType> infer_add(const OpCall& call) {
  want_normable(call, 2);
  call.want(call.input(0) == call.input(1), "x and y are wanted of one type");
  return {call.input(0), call.input(0)};
}

std::vector<float> layer_norm(const LayerNorm& norm, const std::vector<float>& x, size_t hidden, std::span<const Tensor> parameters) {
  std::vector<float> weight(hidden, 1.0f), bias(hidden, 0.0f), y(x.size());
  if (parameters.size() > 0) {
    weight = read_floats(parameters[0]);
    for (float& w : weight) w += norm.weight_offset;
  }
  if (parameters.size() > 1) bias = read_floats(parameters[1]);
  for (size_t row = 0; row < x.size(); row += hidden) {
    float sum = 0, squares = 0;
    for (size_t i = 0; i < hidden; ++i) sum += x[row + i];
    const float mean = sum / float(hidden);
    for (size_t i = 0; i < hidden; ++i) squares += (x[row + i] - mean) * (x[row + i] - mean);
    const float scale = 1 / std::sqrt(squares / float(hidden) + norm.eps);
    for (size_t i = 0; i < hidden; ++i) y[row + i] = (x[row + i] - mean) * scale * weight[i] + bias[i];
  }
  return y;
}

void reference(const OpCall& call, std::span<const Tensor> in, std::span<const Tensor> out) {
  write_floats(out[0], layer_norm(call.as<LayerNorm>(), read_floats(in[0]), size_t(in[0].sizes[-1]), in.subspan(1)));
}

void reference_add(const OpCall& call, std::span<const Tensor> in, std::span<const Tensor> out) {
  std::vector<float> x = read_floats(in[0]), y = read_floats(in[1]);
  for (size_t i = 0; i < x.size(); ++i) x[i] += y[i];
  write_floats(out[0], x);
  write_floats(out[1], layer_norm(call.as<LayerNorm>(), read_floats(out[0]), size_t(in[0].sizes[-1]), in.subspan(2)));
}

std::vector<Value> decompose(Graph& graph, const Node& node, std::span<const Value> in) {
  const auto& norm = node.attributes_as<LayerNorm>();
  const Value x = cast_to(graph, in[0], DType::kF32);
  const Value centred = graph.emit("sub", {x, mean_of_last_axis(graph, x)});
  const Value variance = mean_of_last_axis(graph, graph.emit("square", {centred}));
  Value y = graph.emit("mul", {centred, graph.emit("rsqrt", {graph.emit("add", {variance, number(graph, norm.eps)})})});
  if (in.size() > 1) {
    Value weight = cast_to(graph, in[1], DType::kF32);
    if (norm.weight_offset != 0) weight = graph.emit("add", {weight, number(graph, norm.weight_offset)});
    y = graph.emit("mul", {y, weight});
  }
  if (in.size() > 2) y = graph.emit("add", {y, cast_to(graph, in[2], DType::kF32)});
  return {cast_to(graph, y, in[0].dtype())};
}

std::vector<Value> decompose_add(Graph& graph, const Node& node, std::span<const Value> in) {
  std::vector<Value> operands(in.begin() + 1, in.end());
  operands[0] = graph.emit("add", {in[0], in[1]});
  const Value sum = operands[0];
  return {sum, graph.emit("layer_norm", node.attributes(), std::move(operands))};
}

}  // namespace

void register_layer_norm(OpRegistry& ops) {
  ops.add({.name = "layer_norm",
           .attributes = &attribute_type<LayerNorm>(),
           .min_inputs = 1,
           .max_inputs = 3,
           .infer = infer,
           .reference = reference,
           .decompose = decompose,
           .row_wise = true});
  ops.add({.name = "add_layer_norm",
           .attributes = &attribute_type<LayerNorm>(),
           .min_inputs = 2,
           .max_inputs = 4,
           .infer = infer_add,
           .reference = reference_add,
           .decompose = decompose_add});
}

}  // namespace headrace
