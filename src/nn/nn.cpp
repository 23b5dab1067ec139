#include "headrace/nn.h"

#include "core/error.h"
#include "nn/layer.h"
#include "ops/rope/rope.h"

namespace headrace::nn {

Scope Scope::operator/(std::string_view name) const {
  Scope inner = *this;
  if (!inner.path_.empty() && !name.empty()) inner.path_ += '.';
  inner.path_ += name;
  return inner;
}

Value Scope::parameter(std::string_view name, Shape shape, std::source_location where) const {
  const std::string path = (*this / name).path_;
  const std::optional<TensorType> stored = stored_ ? stored_(path) : std::nullopt;
  return graph_->parameter(path, {stored ? stored->dtype : fallback_, std::move(shape)}, where);
}

bool Scope::has(std::string_view name) const { return stored_ && stored_((*this / name).path_).has_value(); }

Value named(const Scope& at, Value value) {
  if (!at.path().empty()) at.graph().rename(value, at.path());
  return value;
}

Value tokens(Graph& graph) { return graph.input("tokens", {DType::kI32, {Dim::symbol("tokens")}}); }
Value positions(Graph& graph) { return graph.input("positions", {DType::kI32, {Dim::symbol("tokens")}}); }
Value reach(Graph& graph) { return graph.input("reach", {DType::kI32, {Dim::symbol("tokens")}}); }
Value sequence_offsets(Graph& graph) { return graph.input("sequence_offsets", {DType::kI32, {Dim::symbol("sequences") + 1}}); }

Value select_logit_rows(Operand x) { return index_select(x, 0, graph_of(x).input("logit_rows", {DType::kI32, {Dim::symbol("rows")}})); }

Value linear(const Scope& at, Operand x, int64_t out_features, const LinearOptions& options) {
  return in_layer(at, [&] {
    const Dim in = width(x);
    const Value stored = at.parameter("weight", options.in_out ? Shape{in, out_features} : Shape{out_features, in}, x.where);
    const Value weight = options.in_out ? permute({stored, x.where}, {1, 0}) : stored;
    return headrace::linear(x, weight, options.bias ? at.parameter("bias", {out_features}, x.where) : Value(), options.parallel);
  });
}

Value embedding(const Scope& at, Operand ids, int64_t rows, int64_t hidden) {
  return in_layer(at, [&] { return headrace::embedding(ids, at.parameter("weight", {rows, hidden}, ids.where)); });
}

Value rms_norm(const Scope& at, Operand x, float eps) {
  return in_layer(at, [&] { return headrace::rms_norm(x, at.parameter("weight", {width(x)}, x.where), eps); });
}

Value layer_norm(const Scope& at, Operand x, float eps) {
  return in_layer(at, [&] {
    const Value weight = at.parameter("weight", {width(x)}, x.where), bias = at.parameter("bias", {width(x)}, x.where);
    return headrace::layer_norm(x, weight, bias, eps);
  });
}

Activation parse_activation(const std::string& name) {
  if (name == "silu" || name == "swish") return Activation::kSilu;
  if (name == "gelu" || name == "gelu_python") return Activation::kGelu;
  if (name == "gelu_new" || name == "gelu_pytorch_tanh" || name == "gelu_fast") return Activation::kGeluTanh;
  if (name == "quick_gelu") return Activation::kGeluSigmoid;
  if (name == "relu") return Activation::kRelu;
  if (name == "relu2") return Activation::kReluSquared;
  if (name == "sigmoid") return Activation::kSigmoid;
  if (name == "tanh") return Activation::kTanh;
  if (name == "linear") return Activation::kNone;
  fail(ErrorCode::kUnsupported,
       "config.json: activation '{}' is not known; wanted silu, gelu, gelu_new, gelu_pytorch_tanh, quick_gelu, relu, relu2, sigmoid, tanh "
       "or linear",
       printable(name));
}

Value activate(Operand x, Activation activation) {
  switch (activation) {
    case Activation::kSilu: return silu(x);
    case Activation::kGelu: return gelu(x);
    case Activation::kGeluTanh: return gelu(x, GeluApproximation::kTanh);
    case Activation::kGeluSigmoid: return x * sigmoid({x * 1.702, x.where});
    case Activation::kRelu: return relu(x);
    case Activation::kReluSquared: return mul({relu(x), x.where}, relu(x));
    case Activation::kSigmoid: return sigmoid(x);
    case Activation::kTanh: return tanh(x);
    case Activation::kNone: break;
  }
  return x.value;
}

Value mlp(const Scope& at, Operand x, int64_t intermediate, Activation activation, bool bias) {
  const int64_t hidden = in_layer(at, [&] { return features(x); });
  const Value wide = linear(at / "up_proj", x, intermediate, {.bias = bias, .parallel = Parallel::kColumn});
  const Value y = activate({wide, x.where}, activation);
  return linear(at / "down_proj", {y, x.where}, hidden, {.bias = bias, .parallel = Parallel::kRow});
}

Value gated_mlp(const Scope& at, Operand x, int64_t intermediate, Activation activation, bool bias) {
  const int64_t hidden = in_layer(at, [&] { return features(x); });
  const LinearOptions columns{.bias = bias, .parallel = Parallel::kColumn};
  const Value gate = activate({linear(at / "gate_proj", x, intermediate, columns), x.where}, activation);
  const Value y = mul({gate, x.where}, linear(at / "up_proj", x, intermediate, columns));
  return linear(at / "down_proj", {y, x.where}, hidden, {.bias = bias, .parallel = Parallel::kRow});
}

Value rope(Operand x, const RopeOptions& options) {
  Graph& graph = graph_of(x);
  const RopeFrequencies frequencies = rope_frequencies(options);
  const auto divided = [&](const std::vector<float>& numbers, const Value& divisors) {
    const Value inverse = graph.constant(HostTensor(DType::kF32, {int64_t(numbers.size())}, std::span<const float>(numbers)));
    return divisors ? div({inverse, x.where}, divisors) : inverse;
  };
  std::vector<Value> inputs{positions(graph), divided(frequencies.inverse, options.frequency_divisors)};
  RopeTable table_of{.scale = frequencies.scale};
  if (options.scaling.kind == RopeScaling::Kind::kLongRope) {
    inputs.insert(inputs.end(), {reach(graph), divided(frequencies.long_inverse, options.long_frequency_divisors)});
    table_of.longest_short = int64_t(options.scaling.original_max_position);
  }
  const Value table = graph.emit("rope_table", table_of, std::move(inputs), x.where);
  return headrace::rope(x, table, options.head_dim, options.interleaved);
}

Value causal_attention(Operand q, Operand k, Operand v, const AttentionOptions& options) {
  return headrace::causal_attention(q, k, v, sequence_offsets(graph_of(q)), options);
}
Value bidirectional_attention(Operand q, Operand k, Operand v, const AttentionOptions& options) {
  return headrace::bidirectional_attention(q, k, v, sequence_offsets(graph_of(q)), options);
}

}  // namespace headrace::nn
