#include "ops/gated/gated.h"

#include "ops/reference.h"
#include "ops/unary/unary.h"
#include "ops/views/views.h"

namespace headrace {
namespace {

std::vector<TensorType> infer(const OpCall& call) {
  TensorType y = call.input(0);
  call.want(is_float(y.dtype) && y.shape.rank() >= 1, "x is wanted as floats with at least one axis");
  const std::optional<Dim> half = y.shape[-1].divided_by(2);
  if (!half) call.reject("the last axis is wanted as an even number of elements: gates, then as many values");
  y.shape[-1] = *half;
  return {y};
}

void reference(const OpCall& call, std::span<const Tensor> in, std::span<const Tensor> out) {
  const std::vector<float> x = read_floats(in[0]);
  const size_t n = size_t(out[0].sizes[-1]);
  std::vector<float> y(size_t(out[0].numel()));
  for (size_t i = 0; i < y.size(); ++i) {
    const size_t gate = i / n * 2 * n + i % n;
    y[i] = activate(call.as<Gated>().activation, x[gate]) * x[gate + n];
  }
  write_floats(out[0], y);
}

Value activation(Graph& graph, Activation activation, Value x) {
  switch (activation) {
    case Activation::kSilu: return graph.emit("silu", {x});
    case Activation::kGeluTanh: return graph.emit("gelu", Gelu{.tanh = true}, {x});
    case Activation::kGeluErf: return graph.emit("gelu", Gelu{.tanh = false}, {x});
    case Activation::kRelu: return graph.emit("relu", {x});
  }
  return x;
}

std::vector<Value> decompose(Graph& graph, const Node& node, std::span<const Value> in) {
  const Shape& half = node.output().shape();
  const auto part = [&](int64_t i) {
    if (half[-1].is_constant()) {
      const int64_t n = half[-1].value();
      return graph.emit("slice", Slice{.axis = -1, .begin = i * n, .end = (i + 1) * n}, {in[0]});
    }
    Shape halves = half;  // bounds of a slice are numbers, so an axis of two is cut instead
    halves[-1] = 2;
    halves.push_back(half[-1]);
    return graph.emit("view", View{half},
                      {graph.emit("slice", Slice{.axis = -2, .begin = i, .end = i + 1}, {graph.emit("view", View{halves}, {in[0]})})});
  };
  const Value gate = part(0), value = part(1);
  return {graph.emit("mul", {activation(graph, node.attributes_as<Gated>().activation, gate), value})};
}

}  // namespace

void register_gated(OpRegistry& ops) {
  ops.add({.name = "gated",
           .attributes = &attribute_type<Gated>(),
           .min_inputs = 1,
           .max_inputs = 1,
           .infer = infer,
           .reference = reference,
           .decompose = decompose,
           .row_wise = true});
}

}  // namespace headrace
