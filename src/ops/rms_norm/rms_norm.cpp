#include "ops/rms_norm/rms_norm.h"

#include <cmath>

#include "ops/reference.h"
#include "ops/spelling.h"

namespace headrace {
namespace {

void want_normable(const OpCall& call, const TensorType& weight) {
  const TensorType& x = call.input(0);
  call.want(is_float(x.dtype) && x.shape.rank() >= 1, "x is wanted as floats with at least one axis");
  call.want(is_float(weight.dtype) && weight.shape == Shape{x.shape[-1]}, "the weight is wanted as floats, as many as x's last axis has");
}

std::vector<TensorType> infer(const OpCall& call) {
  want_normable(call, call.input(1));
  return {call.input(0)};
}

std::vector<TensorType> infer_add(const OpCall& call) {
  want_normable(call, call.input(2));
  call.want(call.input(0) == call.input(1), "x and y are wanted of one type");
  return {call.input(0), call.input(0)};
}

std::vector<float> rms_norm(const RmsNorm& norm, const std::vector<float>& x, const std::vector<float>& weight) {
  const size_t hidden = weight.size();
  std::vector<float> y(x.size());
  for (size_t row = 0; row < x.size(); row += hidden) {
    float sum = 0;
    for (size_t i = 0; i < hidden; ++i) sum += x[row + i] * x[row + i];
    const float scale = 1 / std::sqrt(sum / float(hidden) + norm.eps);
    for (size_t i = 0; i < hidden; ++i) y[row + i] = x[row + i] * scale * (norm.weight_offset + weight[i]);
  }
  return y;
}

void reference(const OpCall& call, std::span<const Tensor> in, std::span<const Tensor> out) {
  write_floats(out[0], rms_norm(call.as<RmsNorm>(), read_floats(in[0]), read_floats(in[1])));
}

void reference_add(const OpCall& call, std::span<const Tensor> in, std::span<const Tensor> out) {
  std::vector<float> x = read_floats(in[0]), y = read_floats(in[1]);
  for (size_t i = 0; i < x.size(); ++i) x[i] += y[i];
  write_floats(out[0], x);
  write_floats(out[1], rms_norm(call.as<RmsNorm>(), read_floats(out[0]), read_floats(in[2])));
}

std::vector<Value> decompose(Graph& graph, const Node& node, std::span<const Value> in) {
  const auto& norm = node.attributes_as<RmsNorm>();
  const Value x = cast_to(graph, in[0], DType::kF32);
  Value weight = cast_to(graph, in[1], DType::kF32);
  if (norm.weight_offset != 0) weight = graph.emit("add", {weight, number(graph, norm.weight_offset)});
  const Value mean = mean_of_last_axis(graph, graph.emit("square", {x}));
  const Value scale = graph.emit("rsqrt", {graph.emit("add", {mean, number(graph, norm.eps)})});
  return {cast_to(graph, graph.emit("mul", {graph.emit("mul", {x, scale}), weight}), in[0].dtype())};
}

std::vector<Value> decompose_add(Graph& graph, const Node& node, std::span<const Value> in) {
  const Value sum = graph.emit("add", {in[0], in[1]});
  return {sum, graph.emit("rms_norm", node.attributes(), {sum, in[2]})};
}

}  // namespace

void register_rms_norm(OpRegistry& ops) {
  ops.add({.name = "rms_norm",
           .attributes = &attribute_type<RmsNorm>(),
           .min_inputs = 2,
           .max_inputs = 2,
           .infer = infer,
           .reference = reference,
           .decompose = decompose,
           .row_wise = true});
  ops.add({.name = "add_rms_norm",
           .attributes = &attribute_type<RmsNorm>(),
           .min_inputs = 3,
           .max_inputs = 3,
           .infer = infer_add,
           .reference = reference_add,
           .decompose = decompose_add});
}

}  // namespace headrace
