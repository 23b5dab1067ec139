#include "headrace/nn.h"

#include "core/error.h"
#include "ops/attention/attention.h"
#include "ops/rope/rope.h"

namespace headrace::nn {

Scope Scope::operator/(std::string_view name) const {
  Scope inner = *this;
  if (!inner.path_.empty() && !name.empty()) inner.path_ += '.';
  inner.path_ += name;
  return inner;
}

Value Scope::parameter(std::string_view name, Shape shape) const {
  const std::string path = (*this / name).path_;
  const std::optional<TensorType> stored = stored_ ? stored_(path) : std::nullopt;
  return graph_->parameter(path, {stored ? stored->dtype : fallback_, std::move(shape)});
}

bool Scope::has(std::string_view name) const { return stored_ && stored_((*this / name).path_).has_value(); }

Value tokens(Graph& graph) { return graph.input("tokens", {DType::kI32, {Dim::symbol("tokens")}}); }
Value positions(Graph& graph) { return graph.input("positions", {DType::kI32, {Dim::symbol("tokens")}}); }
Value reach(Graph& graph) { return graph.input("reach", {DType::kI32, {Dim::symbol("tokens")}}); }
Value sequence_offsets(Graph& graph) { return graph.input("sequence_offsets", {DType::kI32, {Dim::symbol("sequences") + 1}}); }

Value select_logit_rows(Value x) { return index_select(x, 0, x.graph().input("logit_rows", {DType::kI32, {Dim::symbol("rows")}})); }

Value linear(const Scope& at, Value x, int64_t out_features, const LinearOptions& options) {
  const Dim in = x.shape()[-1];
  const Value weight =
      options.in_out ? permute(at.parameter("weight", {in, out_features}), {1, 0}) : at.parameter("weight", {out_features, in});
  return options.bias ? headrace::linear(x, weight, at.parameter("bias", {out_features})) : headrace::linear(x, weight);
}

Value embedding(const Scope& at, Value ids, int64_t rows, int64_t hidden) {
  return headrace::embedding(ids, at.parameter("weight", {rows, hidden}));
}

Value rms_norm(const Scope& at, Value x, float eps) { return headrace::rms_norm(x, at.parameter("weight", {x.shape()[-1]}), eps); }

Value layer_norm(const Scope& at, Value x, float eps) {
  return headrace::layer_norm(x, at.parameter("weight", {x.shape()[-1]}), at.parameter("bias", {x.shape()[-1]}), eps);
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

Value activate(Value x, Activation activation) {
  switch (activation) {
    case Activation::kSilu: return silu(x);
    case Activation::kGelu: return gelu(x);
    case Activation::kGeluTanh: return gelu(x, GeluApproximation::kTanh);
    case Activation::kGeluSigmoid: return x * sigmoid(x * 1.702);
    case Activation::kRelu: return relu(x);
    case Activation::kReluSquared: return relu(x) * relu(x);
    case Activation::kSigmoid: return sigmoid(x);
    case Activation::kTanh: return tanh(x);
    case Activation::kNone: return x;
  }
  return x;
}

Value gated_mlp(const Scope& at, Value x, int64_t intermediate, Activation activation, bool bias) {
  const int64_t hidden = x.shape()[-1].value();
  const Value gate = activate(linear(at / "gate_proj", x, intermediate, {.bias = bias}), activation);
  const Value up = linear(at / "up_proj", x, intermediate, {.bias = bias});
  return linear(at / "down_proj", gate * up, hidden, {.bias = bias});
}

Value rope(Value x, const RopeOptions& options) {
  Graph& graph = x.graph();
  const RopeFrequencies frequencies = rope_frequencies(options);
  const auto divided = [&](const std::vector<float>& numbers, const Value& divisors) {
    const Value inverse = graph.constant(HostTensor(DType::kF32, {int64_t(numbers.size())}, std::span<const float>(numbers)));
    return divisors ? inverse / divisors : inverse;
  };
  std::vector<Value> inputs{positions(graph), divided(frequencies.inverse, options.frequency_divisors)};
  RopeTable table_of{.scale = frequencies.scale};
  if (options.scaling.kind == RopeScaling::Kind::kLongRope) {
    inputs.insert(inputs.end(), {reach(graph), divided(frequencies.long_inverse, options.long_frequency_divisors)});
    table_of.longest_short = int64_t(options.scaling.original_max_position);
  }
  const Value table = graph.emit("rope_table", table_of, std::move(inputs));
  return graph.emit("rope", Rope{.head_dim = options.head_dim, .interleaved = options.interleaved}, {x, table});
}

namespace {

Value attention(Value q, Value k, Value v, const AttentionOptions& o, bool causal) {
  Graph& graph = q.graph();
  return graph.emit("attention",
                    Attention{.heads = int(o.heads),
                              .kv_heads = int(o.kv_heads),
                              .head_dim = int(o.head_dim),
                              .scale = float(o.scale),
                              .causal = causal,
                              .window = int(o.window),
                              .softcap = float(o.softcap)},
                    {q, k, v, sequence_offsets(graph)});
}

}  // namespace

Value causal_attention(Value q, Value k, Value v, const AttentionOptions& options) { return attention(q, k, v, options, true); }
Value bidirectional_attention(Value q, Value k, Value v, const AttentionOptions& options) { return attention(q, k, v, options, false); }

}  // namespace headrace::nn
