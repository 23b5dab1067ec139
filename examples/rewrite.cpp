// Rewriting graphs: rules of your own, as passes beside the built-in ones.
//   example_rewrite
// 1. An attention and the bias that follows become one op. 2. A whole block becomes another one. Both are checked against the graph
// as it was written; and where a rule does not match, explain says why.
#include "headrace/rewrite.h"

#include <cmath>
#include <cstdio>

#include "headrace/nn.h"
#include "headrace/session.h"
#include "headrace/weights.h"

using namespace headrace;

constexpr int64_t kHidden = 32, kHeads = 4;
const Dim kTokens = Dim::symbol("tokens"), kSequences = Dim::symbol("sequences");

// attention(q, k, v, offsets) + bias. Its decomposition is its meaning: it needs no reference, and runs by the kernels of its parts until
// somebody writes it one.
static OpDef attention_bias_op() {
  return {.name = "attention_bias",
          .attributes = builtin_ops()->find("attention")->attributes,
          .min_inputs = 5,
          .max_inputs = 5,
          .infer = [](const OpCall& call) -> std::vector<TensorType> {
            call.want(call.input(4).shape == Shape{call.input(0).shape[-1]}, "a bias for each element of a token is wanted");
            return {call.input(0)};
          },
          .decompose = [](Graph& graph, const Node& node, std::span<const Value> in) -> std::vector<Value> {
            return {graph.emit("add", {graph.emit("attention", node.attributes(), {in[0], in[1], in[2], in[3]}), in[4]})};
          }};
}

// x + down(silu(gate(x)) * up(x)): the block that a better kernel is going to replace.
static OpDef gated_block_op() {
  return {.name = "gated_block",
          .min_inputs = 4,
          .max_inputs = 4,
          .infer = [](const OpCall& call) { return std::vector{call.input(0)}; },
          .decompose = [](Graph& graph, const Node&, std::span<const Value> in) -> std::vector<Value> {
            const auto linear = [&](Value x, Value weight) { return graph.emit("linear", {x, weight}); };
            const Value gated = graph.emit("mul", {graph.emit("silu", {linear(in[0], in[1])}), linear(in[0], in[2])});
            return {graph.emit("add", {in[0], linear(gated, in[3])})};
          }};
}

static const Pattern& attention_and_bias() {
  static const Pattern pattern = op("add", {op("attention").as("attention"), known("bias")});
  return pattern;
}

static std::vector<Rule> rules() {
  const Pattern x = any("x");
  const auto linear = [](Pattern input, const char* weight) { return op("linear", {std::move(input), known(weight)}); };
  return {
      {"attention-bias", attention_and_bias(),
       [](Graph& graph, const Match& m) -> std::vector<Value> {
         const Node& attention = m.node("attention");
         if (m["bias"].shape() != Shape{attention.output().shape()[-1]}) return {};  // something else is added
         std::vector<Value> operands = attention.inputs();
         operands.push_back(m["bias"]);
         return {graph.emit("attention_bias", attention.attributes(), std::move(operands))};
       }},
      {"gated-block", op("add", {x, linear(op("mul", {op("silu", {linear(x, "gate")}), linear(x, "up")}), "down")}),
       [](Graph& graph, const Match& m) {
         return std::vector{graph.emit("gated_block", {m["x"], m["gate"], m["up"], m["down"]})};
       }},
  };
}

static Graph define(std::shared_ptr<const OpRegistry> ops) {
  Graph graph(std::move(ops), "block");
  const nn::Scope at(graph);
  const Value x = graph.input("x", {DType::kF32, {kTokens, kHidden}});
  const nn::AttentionOptions heads{.heads = kHeads, .kv_heads = kHeads, .head_dim = kHidden / kHeads};
  const Value attended = nn::causal_attention(nn::linear(at / "q_proj", x, kHidden), nn::linear(at / "k_proj", x, kHidden),
                                              nn::linear(at / "v_proj", x, kHidden), heads);
  const Value h = attended + at.parameter("bias", {kHidden});
  const Value y = h + nn::linear(at / "down", silu(nn::linear(at / "gate", h, 48)) * nn::linear(at / "up", h, 48), kHidden);
  graph.mark_output(y, "y");
  return graph;
}

static std::map<std::string, HostTensor> weights_of(const Graph& graph) {
  std::map<std::string, HostTensor> weights;
  uint32_t state = 1;
  for (const Value& p : graph.leaves(Leaf::kParameter)) {
    HostTensor& w = weights.emplace(p.name(), HostTensor(DType::kF32, p.shape().sizes())).first->second;
    for (int64_t i = 0; i < w.view().numel(); ++i)
      w.as<float>()[i] = float((state = state * 1664525 + 1013904223) >> 8) / float(1 << 24) * 0.4f - 0.2f;
  }
  return weights;
}

static int run() {
  const auto ops = std::make_shared<OpRegistry>();
  register_ops(*ops);
  ops->add(attention_bias_op());
  ops->add(gated_block_op());

  const Graph graph = define(ops);
  const auto weights = memory_weights(weights_of(graph));
  const std::vector<int32_t> offsets = {0, 3, 5};
  std::vector<float> x(5 * kHidden);
  for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(float(i));
  const std::map<std::string, HostTensor> inputs = {{"x", HostTensor(DType::kF32, {5, kHidden}, std::span<const float>(x))},
                                                    {"sequence_offsets", HostTensor(DType::kI32, {3}, std::span<const int32_t>(offsets))}};
  const auto outputs = [&](const SessionOptions& options) {
    Session session(graph.clone(), weights, options);
    std::printf("%d nodes:", session.program().num_nodes());
    for (const Node* node : session.program().nodes()) std::printf(" %s", node->op().name.c_str());
    std::printf("\n");
    return session.run({inputs.begin(), inputs.end()}).at("y");
  };

  SessionOptions as_written{.exact = true, .compile = false}, rewritten{.exact = true};
  const Pass pass{"my-rules", [](Graph& g, const CompileOptions&) {
                    RewriteOptions options;
                    options.observer = [](const Rule& rule, const Match&) { std::printf("%s matches\n", rule.name.c_str()); };
                    apply_rules(g, rules(), options);
                  }};
  rewritten.passes.extra_passes = {{ExtraPass::Place::kAfter, "recognize", pass}};
  const HostTensor expected = outputs(as_written), actual = outputs(rewritten);
  double worst = 0;
  for (int64_t i = 0; i < expected.view().numel(); ++i)
    worst = std::max(worst, double(std::fabs(expected.as<float>()[i] - actual.as<float>()[i])));
  std::printf("largest difference %g\n", worst);

  Graph other(builtin_ops());
  const Value q = other.input("q", {DType::kF32, {kTokens, kHidden}}), o = nn::sequence_offsets(other);
  const Value y = other.emit(
      "attention",
      Attributes(other.ops().find("attention")->attributes, std::vector<Field>{{"heads", "4"}, {"kv_heads", "4"}, {"head_dim", "8"}}),
      {q, q, q, o});
  std::printf("no match: %s\n", explain(attention_and_bias(), y + q).c_str());
  return worst < 1e-5 ? 0 : 1;
}

int main() try { return run(); } catch (const Error& e) {
  return std::fprintf(stderr, "%s\n", e.what()), 1;
}
