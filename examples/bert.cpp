// A bidirectional encoder of your own, written with layers, on the weights of a BERT checkpoint.
//   example_bert FOLDER        model.safetensors of a BERT (48 wide here), and expected.safetensors to compare with
#include <cmath>
#include <cstdio>
#include <string>

#include "headrace/nn.h"
#include "headrace/session.h"
#include "headrace/weights.h"

using namespace headrace;

struct Config {
  int64_t vocab = 300, hidden = 48, intermediate = 112, layers = 2, heads = 4, positions = 64, types = 2;
  float eps = 1e-12f;
};

static Value attention(const nn::Scope& at, Value x, const Config& c) {
  const nn::LinearOptions biased{.bias = true};
  const Value q = nn::linear(at / "self" / "query", x, c.hidden, biased);
  const Value k = nn::linear(at / "self" / "key", x, c.hidden, biased);
  const Value v = nn::linear(at / "self" / "value", x, c.hidden, biased);
  const Value y = nn::bidirectional_attention(q, k, v, {.heads = c.heads, .kv_heads = c.heads, .head_dim = c.hidden / c.heads});
  return nn::linear(at / "output" / "dense", y, c.hidden, biased);
}

static Value layer(const nn::Scope& at, Value x, const Config& c) {
  x = nn::layer_norm(at / "attention" / "output" / "LayerNorm", x + attention(at / "attention", x, c), c.eps);
  const Value wide = gelu(nn::linear(at / "intermediate" / "dense", x, c.intermediate, {.bias = true}));
  return nn::layer_norm(at / "output" / "LayerNorm", x + nn::linear(at / "output" / "dense", wide, c.hidden, {.bias = true}), c.eps);
}

// Sequences are packed: `tokens` ids of `sequences` texts, one after the other, without padding. Both are symbols.
static Graph bert(const Config& c) {
  Graph graph(builtin_ops(), "bert");
  const nn::Scope root = nn::Scope(graph) / "bert", embeddings = root / "embeddings";
  const Value types = graph.input("token_types", {DType::kI32, {Dim::symbol("tokens")}});
  Value x = nn::embedding(embeddings / "word_embeddings", nn::tokens(graph), c.vocab, c.hidden) +
            nn::embedding(embeddings / "token_type_embeddings", types, c.types, c.hidden) +
            nn::embedding(embeddings / "position_embeddings", nn::positions(graph), c.positions, c.hidden);
  x = nn::layer_norm(embeddings / "LayerNorm", x, c.eps);
  for (int64_t i = 0; i < c.layers; ++i) x = layer(root / "encoder" / "layer" / int(i), x, c);
  graph.mark_output(x, "last_hidden_state");
  return graph;
}

static HostTensor ids(const std::vector<int32_t>& values) {
  return HostTensor(DType::kI32, {int64_t(values.size())}, std::span<const int32_t>(values));
}

using Texts = std::vector<std::vector<int32_t>>;

static std::map<std::string, HostTensor> encode(Session& session, const Texts& texts) {
  std::vector<int32_t> tokens, positions, offsets = {0};
  for (const std::vector<int32_t>& text : texts) {
    for (size_t i = 0; i < text.size(); ++i) tokens.push_back(text[i]), positions.push_back(int32_t(i));
    offsets.push_back(int32_t(tokens.size()));
  }
  const HostTensor zeros = ids(std::vector<int32_t>(tokens.size()));
  return session.run({{"tokens", ids(tokens)}, {"positions", ids(positions)}, {"token_types", zeros}, {"sequence_offsets", ids(offsets)}});
}

static int run(const std::string& folder) {
  Session session(bert({}), file_weights(folder + "/model.safetensors"), {.exact = true});
  // A text that Hugging Face's BertModel has encoded, too: alone, and behind another one.
  const std::vector<int32_t> text = {2, 84, 95, 122, 66, 92, 55, 84, 202, 102, 250, 146, 3}, other = {2, 10, 11, 3};
  const std::shared_ptr<const WeightSource> file = file_weights(folder + "/expected.safetensors");
  const Tensor expected = file->read("single.last_hidden_state");
  for (bool alone : {true, false}) {
    const HostTensor states = encode(session, alone ? Texts{text} : Texts{other, text}).at("last_hidden_state");
    const float* own = states.as<float>() + states.view().numel() - expected.numel();
    float worst = 0;
    for (int64_t i = 0; i < expected.numel(); ++i) worst = std::max(worst, std::abs(own[i] - expected.as<float>()[i]));
    std::printf("%s: %s, %.0e off Hugging Face's\n", alone ? "alone" : "of two", states.view().sizes.to_string().c_str(), worst);
    if (!(worst < 1e-4f)) return 1;
  }
  return 0;
}

int main(int argc, char** argv) try {
  if (argc != 2) return std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]), 2;
  return run(argv[1]);
} catch (const Error& e) {
  return std::fprintf(stderr, "%s\n", e.what()), 1;
}
