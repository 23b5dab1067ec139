// Makes the small engine that tests keep for each format, and what it must say: run it when the format has a new number, and keep the old
// ones.
//   make_engine tests/data/engines/format-N
// One layer, weights of four types, a tokenizer, and tactics of a device that no machine has.
#include <bit>
#include <cstdio>
#include <random>

#include "core/json.h"
#include "core/new_file.h"
#include "headrace/build.h"
#include "headrace/llm.h"
#include "headrace/nn.h"
#include "headrace/tokenizer.h"

using namespace headrace;

namespace {

constexpr int64_t kHidden = 32, kHeadDim = 16, kHeads = 2, kKvHeads = 1;
constexpr const char* kWords[] = {"?",    "the", "river", "wheel", "turns", "mill", "water", "stone", "grinds", "grain", "a",    "and",
                                  "slow", "by",  "falls", "over",  "its",   "race", "head",  "tail",  "runs",   "deep",  "once", "."};
constexpr int64_t kVocab = std::size(kWords);

Graph model() {
  Graph graph(builtin_ops(), "small");
  const nn::StoredTypes types = [](const std::string& name) -> std::optional<TensorType> {
    if (name.find("proj") != std::string::npos) return TensorType{DType::kQ8_0, {}};
    if (name == "head.weight") return TensorType{DType::kF16, {}};
    return TensorType{name == "embed.weight" ? DType::kBF16 : DType::kF32, {}};
  };
  const nn::Scope root(graph, types), layer = root / "layer";
  Value x = nn::embedding(root / "embed", nn::tokens(graph), kVocab, kHidden);
  const Value y = nn::rms_norm(layer / "norm", x, 1e-5f);
  const Value q = nn::rope(nn::linear(layer / "q_proj", y, kHeads * kHeadDim), {.head_dim = kHeadDim});
  const Value k = nn::rope(nn::linear(layer / "k_proj", y, kKvHeads * kHeadDim), {.head_dim = kHeadDim});
  const Value v = nn::linear(layer / "v_proj", y, kKvHeads * kHeadDim);
  const Value seen = nn::causal_attention(q, k, v, {.heads = kHeads, .kv_heads = kKvHeads, .head_dim = kHeadDim});
  x = x + nn::linear(layer / "o_proj", seen, kHidden);
  x = x + nn::gated_mlp(layer / "mlp", nn::rms_norm(layer / "mlp_norm", x, 1e-5f), kHidden, nn::Activation::kSilu, false);
  graph.mark_output(nn::linear(root / "head", nn::select_logit_rows(nn::rms_norm(root / "norm", x, 1e-5f)), kVocab), "logits");
  return graph;
}

// Values between -1 and 1, of norms between 0 and 2, written as bits.
HostTensor values(const TensorType& type, bool norm, std::mt19937& random) {
  HostTensor tensor(type.dtype, type.shape.sizes());
  const Tensor all = tensor.view();
  const auto next = [&] { return float(int(random() % 255) - 127) / 128 + float(norm); };
  constexpr uint16_t kHalf2e9 = 0x1800;  // 2^-9 as fp16: the scale of a block of 32
  if (type.dtype == DType::kF32)
    for (int64_t i = 0; i < all.numel(); ++i) tensor.as<float>()[i] = next();
  if (type.dtype == DType::kBF16)
    for (int64_t i = 0; i < all.numel(); ++i) tensor.as<uint16_t>()[i] = uint16_t(std::bit_cast<uint32_t>(next()) >> 16);
  if (type.dtype == DType::kF16)  // powers of two from 1/8 to 1, of either sign
    for (int64_t i = 0; i < all.numel(); ++i) tensor.as<uint16_t>()[i] = uint16_t((random() % 2) << 15 | (12 + random() % 4) << 10);
  if (type.dtype == DType::kQ8_0)
    for (int64_t i = 0; i < all.bytes(); ++i) tensor.as<uint8_t>()[i] = i % 34 < 2 ? uint8_t(kHalf2e9 >> 8 * (i % 34)) : uint8_t(random());
  return tensor;
}

std::string tokenizer() {
  Json words = Json::object();
  for (int64_t i = 0; i < kVocab; ++i) words[kWords[i]] = i;
  return Json{{"version", "1.0"},
              {"pre_tokenizer", {{"type", "Whitespace"}}},
              {"model", {{"type", "WordLevel"}, {"vocab", words}, {"unk_token", "?"}}}}
      .dump();
}

void make(const std::string& path) {
  std::mt19937 random(1);
  std::map<std::string, HostTensor> weights;
  const Graph graph = model();
  for (const Value& p : graph.leaves(Leaf::kParameter))
    weights[p.name()] = values(p.type(), p.name().find("norm") != std::string::npos, random);
  const auto text = std::make_shared<const std::string>(tokenizer());
  Engine engine = build_engine(model(), memory_weights(std::move(weights)), {ModelKind::kDecoder, kVocab, 64},
                               {.name = "small", .files = {{"tokenizer.json", {*text, text}}}}, {.dtype = "fp32"});
  engine.config = R"({"model_type":"small"})";
  engine.generation = R"({"eos_token_ids":[23]})";
  engine.tactics = R"({"device":"that no machine has","version":"0.1.0","ops":{}})";
  write_engine(engine, path + ".engine");

  LLM llm(std::move(engine));
  const std::string prompt = "the river turns";
  const Completion c = llm.generate(prompt, {.max_tokens = 16, .ignore_eos = true, .output = {.logprobs = 0}});
  Json logprobs = Json::array();
  for (const TextLogprobs& t : c.logprobs) logprobs.push_back(t.logprob);
  const std::string expected =
      Json{{"prompt", prompt}, {"ids", llm.encode(prompt)}, {"tokens", c.token_ids}, {"text", c.text}, {"logprobs", logprobs}}.dump(1) +
      "\n";
  NewFile file(path + ".json");
  file.append(std::as_bytes(std::span(expected)));
  file.commit();
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) return std::fprintf(stderr, "usage: make_engine PATH, for PATH.engine and PATH.json\n"), 2;
  make(argv[1]);
} catch (const Error& e) {
  return std::fprintf(stderr, "%s\n", e.what()), 1;
}
