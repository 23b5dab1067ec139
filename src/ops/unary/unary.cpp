#include "ops/unary/unary.h"

#include <cmath>

#include "ops/activation.h"
#include "ops/reference.h"
#include "ops/spelling.h"

namespace headrace {
namespace {

float apply(UnaryFunction function, float x) {
  switch (function) {
    case UnaryFunction::kNeg: return -x;
    case UnaryFunction::kAbs: return std::fabs(x);
    case UnaryFunction::kSquare: return x * x;
    case UnaryFunction::kSign: return float(x > 0) - float(x < 0);
    case UnaryFunction::kFloor: return std::floor(x);
    case UnaryFunction::kCeil: return std::ceil(x);
    case UnaryFunction::kRound: return std::nearbyint(x);
    case UnaryFunction::kRelu: return activate(Activation::kRelu, x);
    case UnaryFunction::kExp: return std::exp(x);
    case UnaryFunction::kLog: return std::log(x);
    case UnaryFunction::kSqrt: return std::sqrt(x);
    case UnaryFunction::kRsqrt: return 1 / std::sqrt(x);
    case UnaryFunction::kTanh: return std::tanh(x);
    case UnaryFunction::kSigmoid: return 1 / (1 + std::exp(-x));
    case UnaryFunction::kSilu: return activate(Activation::kSilu, x);
    case UnaryFunction::kErf: return std::erf(x);
    case UnaryFunction::kSin: return std::sin(x);
    case UnaryFunction::kCos: return std::cos(x);
    case UnaryFunction::kGeluErf: return activate(Activation::kGeluErf, x);
    case UnaryFunction::kGeluTanh: return activate(Activation::kGeluTanh, x);
  }
  return 0;
}

int64_t apply(UnaryFunction function, int64_t x) {  // unsigned inside: wraps around
  const int64_t negative = int64_t(0 - uint64_t(x));
  switch (function) {
    case UnaryFunction::kNeg: return negative;
    case UnaryFunction::kAbs: return x < 0 ? negative : x;
    case UnaryFunction::kSquare: return int64_t(uint64_t(x) * uint64_t(x));
    case UnaryFunction::kSign: return (x > 0) - (x < 0);
    case UnaryFunction::kRelu: return x < 0 ? 0 : x;
    default: return x;  // whole already
  }
}

bool keeps_integers(UnaryFunction function) { return function <= UnaryFunction::kRelu; }

std::vector<TensorType> infer(UnaryFunction function, const OpCall& call) {
  TensorType y = call.input(0);
  call.want(!is_block(y.dtype), "block types take part in no arithmetic: cast them to floats first");
  if (keeps_integers(function)) call.want(y.dtype != DType::kBool, "bool has no such function: cast it first");
  else if (!is_float(y.dtype)) y.dtype = DType::kF32;
  return {y};
}

void reference(UnaryFunction function, std::span<const Tensor> in, std::span<const Tensor> out) {
  if (is_float(out[0].dtype)) {
    std::vector<float> values = read_floats(in[0]);
    for (float& v : values) v = apply(function, v);
    write_floats(out[0], values);
  } else {
    std::vector<int64_t> values = read_integers(in[0]);
    for (int64_t& v : values) v = apply(function, v);
    write_integers(out[0], values);
  }
}

// silu and gelu spelt in plainer functions.
std::vector<Value> decompose_silu(Graph& graph, const Node&, std::span<const Value> in) {
  const Value x = cast_to(graph, in[0], DType::kF32);
  return {cast_to(graph, graph.emit("mul", {x, graph.emit("sigmoid", {x})}), is_float(in[0].dtype()) ? in[0].dtype() : DType::kF32)};
}

std::vector<Value> decompose_gelu(Graph& graph, const Node& node, std::span<const Value> in) {
  const Value x = cast_to(graph, in[0], DType::kF32);
  const auto times = [&](Value v, double by) { return graph.emit("mul", {v, number(graph, by)}); };
  Value inner;
  if (node.attributes_as<Gelu>().tanh) {
    const Value cube = graph.emit("mul", {graph.emit("square", {x}), x});
    inner = graph.emit("tanh", {times(graph.emit("add", {x, times(cube, 0.044715)}), 0.7978845608028654)});
  } else {
    inner = graph.emit("erf", {times(x, 0.7071067811865476)});
  }
  const Value y = graph.emit("mul", {times(x, 0.5), graph.emit("add", {inner, number(graph, 1)})});
  return {cast_to(graph, y, is_float(in[0].dtype()) ? in[0].dtype() : DType::kF32)};
}

}  // namespace

void register_unary(OpRegistry& ops) {
  for (size_t i = 0; i < std::size(kUnaryNames); ++i) {
    OpDef op{.name = std::string(kUnaryNames[i]), .min_inputs = 1, .max_inputs = 1, .pointwise = true, .row_wise = true};
    op.infer = [f = UnaryFunction(i)](const OpCall& call) { return infer(f, call); };
    op.reference = [f = UnaryFunction(i)](const OpCall&, auto in, auto out) { reference(f, in, out); };
    if (UnaryFunction(i) == UnaryFunction::kSilu) op.decompose = decompose_silu;
    ops.add(std::move(op));
  }
  OpDef gelu{.name = "gelu", .attributes = &attribute_type<Gelu>(), .min_inputs = 1, .max_inputs = 1, .pointwise = true, .row_wise = true};
  gelu.infer = [](const OpCall& call) { return infer(UnaryFunction::kGeluErf, call); };
  gelu.reference = [](const OpCall& call, auto in, auto out) {
    reference(call.as<Gelu>().tanh ? UnaryFunction::kGeluTanh : UnaryFunction::kGeluErf, in, out);
  };
  gelu.decompose = decompose_gelu;
  ops.add(std::move(gelu));
}

}  // namespace headrace
