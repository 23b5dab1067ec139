#include <gtest/gtest.h>

#include "core/test_support.h"
#include "headrace/build.h"
#include "headrace/nn.h"

namespace headrace {
namespace {

using test::error_of;
constexpr int64_t kVocab = 5, kHidden = 4;

Graph next_token_model(DType dtype = DType::kF32) {
  Graph graph(builtin_ops(), "mine");
  const nn::Scope root(graph, {}, dtype);
  const Value x = nn::embedding(root / "embed", nn::tokens(graph), kVocab, kHidden);
  graph.mark_output(nn::linear(root / "head", nn::select_logit_rows(x), kVocab), "logits");
  return graph;
}

TEST(BuildEngine, AGraphOfOnesOwnKeepsItsNameItsWeightsAndItsText) {
  const auto text = std::make_shared<const std::string>("{}");
  const Engine engine = build_engine(next_token_model(), random_weights(next_token_model(), 1), {ModelKind::kDecoder, kVocab, 64},
                                     {.name = "mine", .files = {{"tokenizer.json", {*text, text}}}}, {.dtype = "fp32"});
  EXPECT_EQ(engine.origin, "mine");
  EXPECT_EQ(engine.vocab_size, kVocab);
  EXPECT_EQ(engine.max_positions, 64);
  EXPECT_TRUE(engine.exact);
  EXPECT_EQ(engine.text.find("tokenizer.json"), "{}");
  const EngineInfo info = inspect(engine);
  EXPECT_EQ(info.num_parameters, 2 * kVocab * kHidden);
  EXPECT_EQ(info.weight_bytes, 4 * info.num_parameters);
  EXPECT_EQ(info.dtypes.at(DType::kF32).tensors, 2);
  EXPECT_EQ(info.kv_bytes_per_token, 0);
  EXPECT_EQ(info.model_type, "");
}

TEST(BuildEngine, AGraphThatIsNoModelIsRefused) {
  const auto weights = random_weights(next_token_model(), 1);
  const auto error = [&](Graph graph, std::shared_ptr<const WeightSource> source, const ModelInfo& info) {
    return error_of([&] { build_engine(std::move(graph), std::move(source), info); });
  };
  EXPECT_NE(error(next_token_model(), weights, {ModelKind::kEncoder, kVocab, 64}).find("no output 'last_hidden_state'"), std::string::npos);
  EXPECT_NE(error(next_token_model(), weights, {ModelKind::kDecoder, 0, 64}).find("a vocabulary of 0"), std::string::npos);
  EXPECT_NE(error(next_token_model(), memory_weights({{"embed.weight", HostTensor(DType::kF32, {kVocab, kHidden})}}),
                  {ModelKind::kDecoder, kVocab, 64})
                .find("head.weight: missing"),
            std::string::npos);
}

TEST(RandomWeights, HaveTheTypesThatTheGraphDeclares) {
  for (DType dtype : {DType::kF32, DType::kBF16, DType::kF16}) {
    const Graph graph = next_token_model(dtype);
    const auto weights = random_weights(graph, 3);
    EXPECT_EQ(weights->find("head.weight")->dtype, dtype);
    EXPECT_EQ(weights->names().size(), 2u);
  }
}

}  // namespace
}  // namespace headrace
