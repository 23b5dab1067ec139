// A language model of your own, with batching, cache and sampling from the Executor: a graph, weights, and what it is.
//   example_own_model
#include <cstdio>

#include "headrace/build.h"
#include "headrace/executor.h"
#include "headrace/nn.h"

using namespace headrace;

struct Config {
  int64_t vocab = 64, hidden = 32, layers = 2, heads = 4, context = 128;
};

static Value block(const nn::Scope& at, Value x, const Config& c) {
  const int64_t head_dim = c.hidden / c.heads;
  const Value y = nn::rms_norm(at / "attention_norm", x, 1e-5f);
  const Value q = nn::rope(nn::linear(at / "q", y, c.hidden), {.head_dim = head_dim});
  const Value k = nn::rope(nn::linear(at / "k", y, c.hidden), {.head_dim = head_dim});
  const Value v = nn::linear(at / "v", y, c.hidden);
  x = x + nn::linear(at / "o", nn::causal_attention(q, k, v, {.heads = c.heads, .kv_heads = c.heads, .head_dim = head_dim}), c.hidden);
  return x + nn::gated_mlp(at / "mlp", nn::rms_norm(at / "mlp_norm", x, 1e-5f), 4 * c.hidden, nn::Activation::kSilu, false);
}

static Graph model(const Config& c) {
  Graph graph(builtin_ops(), "mine");
  const nn::Scope root(graph);
  Value x = nn::embedding(root / "embed", nn::tokens(graph), c.vocab, c.hidden);
  for (int64_t i = 0; i < c.layers; ++i) x = block(root / "layers" / int(i), x, c);
  x = nn::rms_norm(root / "norm", nn::select_logit_rows(x), 1e-5f);
  graph.mark_output(nn::linear(root / "head", x, c.vocab), "logits");
  return graph;
}

static void run() {
  const Config config;
  // Weights of chance here; file_weights("mine.safetensors") brings trained ones, under the names that the scopes give.
  const std::shared_ptr<const WeightSource> weights = random_weights(model(config), 7);
  Engine engine = build_engine(model(config), weights, {ModelKind::kDecoder, config.vocab, config.context});

  const std::unique_ptr<Executor> executor = load_executor(std::move(engine));
  const RequestId id = executor->enqueue({.token_ids = {1, 2, 3}, .max_tokens = 16});
  const Response response = executor->await(id).value();
  for (int32_t token : response.token_ids) std::printf("%d ", token);
  std::printf("[%s]\n", std::string(name(response.finish)).c_str());
}

int main() try { run(); } catch (const Error& e) {
  return std::fprintf(stderr, "%s\n", e.what()), 1;
}
