#include "ops/softmax/softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/reference.h"
#include "ops/spelling.h"

namespace headrace {
namespace {

std::vector<TensorType> infer(const OpCall& call) {
  call.want(is_float(call.input(0).dtype), "x is wanted as floats");
  normalize_axis(call, call.as<Softmax>().axis, call.input(0).shape.rank());
  return {call.input(0)};
}

void reference(const OpCall& call, std::span<const Tensor> in, std::span<const Tensor> out) {
  const bool logarithm = call.op.name == "log_softmax";
  const AxisSplit split(in[0].sizes, normalize_axis(call, call.as<Softmax>().axis, in[0].rank()));
  std::vector<float> x = read_floats(in[0]);
  for (int64_t o = 0; o < split.outer; ++o)
    for (int64_t n = 0; n < split.inner; ++n) {
      const auto at = [&](int64_t i) -> float& { return x[size_t((o * split.length + i) * split.inner + n)]; };
      float max = -std::numeric_limits<float>::infinity(), sum = 0;
      for (int64_t i = 0; i < split.length; ++i) max = std::max(max, at(i));
      for (int64_t i = 0; i < split.length; ++i) sum += std::exp(at(i) - max);
      for (int64_t i = 0; i < split.length; ++i) at(i) = logarithm ? at(i) - max - std::log(sum) : std::exp(at(i) - max) / sum;
    }
  write_floats(out[0], x);
}

std::vector<Value> decompose(Graph& graph, const Node& node, std::span<const Value> in) {
  const Reduce along{.axes = {node.attributes_as<Softmax>().axis}, .keepdim = true};
  if (in[0].shape()[int(along.axes[0])] == Dim(0)) return {in[0]};  // which has no largest element
  const Value x = cast_to(graph, in[0], DType::kF32);
  const Value below = graph.emit("sub", {x, graph.emit("max", along, {x})}), powers = graph.emit("exp", {below});
  if (node.op().name == "log_softmax")
    return {cast_to(graph, graph.emit("sub", {below, graph.emit("log", {graph.emit("sum", along, {powers})})}), in[0].dtype())};
  return {cast_to(graph, graph.emit("div", {powers, graph.emit("sum", along, {powers})}), in[0].dtype())};
}

}  // namespace

void register_softmax(OpRegistry& ops) {
  for (const char* name : {"softmax", "log_softmax"})
    ops.add({.name = name,
             .attributes = &attribute_type<Softmax>(),
             .min_inputs = 1,
             .max_inputs = 1,
             .infer = infer,
             .reference = reference,
             .decompose = decompose});
}

}  // namespace headrace
