#include "headrace/nn.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/test_support.h"
#include "ops/ops.h"

namespace headrace {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Rope, FrequenciesFallGeometricallyFromOne) {
  const nn::RopeFrequencies f = nn::rope_frequencies({.head_dim = 8, .theta = 10000});
  ASSERT_EQ(f.inverse.size(), 4u);
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(f.inverse[size_t(i)], std::pow(10.0, -i), 1e-6);
  EXPECT_EQ(f.scale, 1);
}

TEST(Rope, Llama3StretchesLongWavesOnlyAndBlendsBetween) {
  const nn::RopeOptions plain{.head_dim = 64, .theta = 500000};
  nn::RopeOptions scaled = plain;
  scaled.scaling = {
      .kind = nn::RopeScaling::Kind::kLlama3, .factor = 8, .low_freq_factor = 1, .high_freq_factor = 4, .original_max_position = 8192};
  const auto a = nn::rope_frequencies(plain).inverse, b = nn::rope_frequencies(scaled).inverse;
  int kept = 0, blended = 0, stretched = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const float ratio = a[i] / b[i];
    EXPECT_GE(ratio, 1 - 1e-6f);
    EXPECT_LE(ratio, 8 + 1e-5f);
    if (ratio < 1 + 1e-6f) ++kept;
    else if (ratio > 8 - 1e-4f) ++stretched;
    else ++blended;
  }
  EXPECT_GT(kept, 5);
  EXPECT_GT(blended, 1);
  EXPECT_GT(stretched, 5);
}

TEST(Rope, YarnScalesCosinesUnlessMscalesCancel) {
  nn::RopeOptions o{.head_dim = 64, .theta = 10000};
  o.scaling = {.kind = nn::RopeScaling::Kind::kYarn, .factor = 4, .original_max_position = 4096};
  EXPECT_NEAR(nn::rope_frequencies(o).scale, 0.1 * std::log(4.0) + 1, 1e-6);
  o.scaling.mscale = 1.0, o.scaling.mscale_all_dim = 1.0;
  EXPECT_NEAR(nn::rope_frequencies(o).scale, 1, 1e-6);
  EXPECT_EQ(nn::rope_frequencies(o).inverse[0], 1.0f) << "the fastest turning pair keeps its frequency";
  EXPECT_NEAR(nn::rope_frequencies(o).inverse[31], std::pow(10000.0, -62.0 / 64) / 4, 1e-8) << "the slowest is stretched whole";
}

TEST(Rope, AnMscaleOfZeroIsNone) {
  nn::RopeOptions o{.head_dim = 64, .theta = 10000};
  o.scaling = {.kind = nn::RopeScaling::Kind::kYarn, .factor = 4, .original_max_position = 4096, .mscale = 0.707, .mscale_all_dim = 0.0};
  EXPECT_NEAR(nn::rope_frequencies(o).scale, 0.1 * std::log(4.0) + 1, 1e-6);
}

TEST(Rope, LongRopeHasFrequenciesForShortAndForLongSequences) {
  nn::RopeOptions o{.head_dim = 4, .theta = 100};
  o.scaling = {
      .kind = nn::RopeScaling::Kind::kLongRope, .factor = 4, .original_max_position = 16, .short_factors = {1, 2}, .long_factors = {4, 8}};
  const nn::RopeFrequencies f = nn::rope_frequencies(o);
  EXPECT_EQ(f.inverse, (std::vector<float>{1, 1 / 20.0f}));
  EXPECT_EQ(f.long_inverse, (std::vector<float>{0.25f, 1 / 80.0f}));
  EXPECT_NEAR(f.scale, std::sqrt(1.5), 1e-6) << "1 + ln 4 / ln 16";
  o.scaling.attention_factor = 1.25;
  EXPECT_EQ(nn::rope_frequencies(o).scale, 1.25f);
  o.scaling.long_factors = {4, 8, 16};
  EXPECT_THROW(nn::rope_frequencies(o), Error);
}

TEST(Rope, ImpossibleOptionsAreErrors) {
  EXPECT_THROW(nn::rope_frequencies({.head_dim = 7}), Error);
  EXPECT_THROW(nn::rope_frequencies({.head_dim = 8, .rotary_dim = 10}), Error);
  EXPECT_THROW(nn::rope_frequencies({.head_dim = 8, .theta = -1}), Error);
}

TEST(Scope, ParametersTakeTheStoredTypeAndAFullPath) {
  Graph graph(builtin_ops());
  const nn::Scope root(graph, [](const std::string& path) -> std::optional<TensorType> {
    if (path == "model.layers.3.weight") return TensorType{DType::kBF16, {4, 4}};
    return std::nullopt;
  });
  const nn::Scope layer = root / "model" / "layers" / 3;
  EXPECT_TRUE(layer.has("weight"));
  EXPECT_FALSE(layer.has("bias"));
  EXPECT_EQ(layer.parameter("weight", {4, 4}).type().to_string(), "bf16[4, 4]");
  EXPECT_EQ(layer.parameter("bias", {4}).name(), "model.layers.3.bias");
  EXPECT_EQ(layer.parameter("bias", {4}).dtype(), DType::kF32);
}

TEST(Nn, AGatedMlpIsSpeltInPlainOps) {
  Graph graph(builtin_ops());
  const Value x = graph.input("x", {DType::kF32, {Dim::symbol("tokens"), 8}});
  const Value y = nn::gated_mlp(nn::Scope(graph) / "mlp", x, 16, nn::Activation::kSilu, false);
  EXPECT_EQ(y.type(), x.type());
  graph.mark_output(y, "y");
  graph.verify();
  EXPECT_EQ(graph.num_nodes(), 5);
}

TEST(Nn, AnMlpSaysHowItsMatricesAreMeantToBeCut) {
  Graph graph(builtin_ops());
  const Value x = graph.input("x", {DType::kF32, {Dim::symbol("tokens"), 8}});
  graph.mark_output(nn::mlp(nn::Scope(graph) / "mlp", x, 16, nn::Activation::kReluSquared, true), "y");
  EXPECT_THAT(graph.to_text(), HasSubstr("linear(%x, %mlp.up_proj.weight, %mlp.up_proj.bias) {parallel=column}"));
  EXPECT_THAT(graph.to_text(), HasSubstr("%mlp.down_proj.weight, %mlp.down_proj.bias) {parallel=row}"));
}

// Makes a layer of x (tokens, 8) with `function`, whose nodes must all be of one line of this file.
template <typename Function>
void expect_of_one_line(Function function) {
  Graph graph(builtin_ops());
  function(nn::Scope(graph) / "layer", graph.input("x", {DType::kF32, {Dim::symbol("tokens"), 8}}));
  ASSERT_GT(graph.num_nodes(), 0);
  for (const Node* node : graph.nodes()) {
    EXPECT_THAT(node->where().file_name(), EndsWith("nn_test.cpp")) << node->op().name;
    EXPECT_EQ(node->where().line(), graph.nodes()[0]->where().line()) << node->op().name;
  }
}

TEST(Nn, NodesOfALayerAreOfTheAuthorsLine) {
  using nn::Scope, nn::Activation;
  expect_of_one_line([](const Scope& at, Value x) { nn::linear(at, x, 4, {.bias = true, .in_out = true}); });
  expect_of_one_line([](const Scope& at, Value x) { nn::rms_norm(at, x, 1e-6f); });
  expect_of_one_line([](const Scope& at, Value x) { nn::layer_norm(at, x, 1e-6f); });
  expect_of_one_line([](const Scope& at, Value x) { nn::mlp(at, x, 4, Activation::kGeluSigmoid, true); });
  expect_of_one_line([](const Scope& at, Value x) { nn::gated_mlp(at, x, 4, Activation::kReluSquared, true); });
  expect_of_one_line([](const Scope&, Value x) { nn::rope(x, {.head_dim = 4}); });
  expect_of_one_line([](const Scope&, Value x) { nn::causal_attention(x, x, x, {.heads = 2, .kv_heads = 2, .head_dim = 4}); });
  expect_of_one_line([](const Scope&, Value x) { nn::select_logit_rows(x); });
}

unsigned this_line(std::source_location where = std::source_location::current()) { return where.line(); }

TEST(Nn, ErrorsNameTheLayerAndTheAuthorsLine) {
  Graph graph(builtin_ops());
  const nn::Scope root(graph), layer = root / "model" / "layers" / 3;
  const Value x = graph.input("x", {DType::kF32, {Dim::symbol("tokens"), 8}}), ids = graph.input("ids", {DType::kI32, {4}});
  const Value ragged = graph.input("ragged", {DType::kF32, {2, Dim::symbol("width")}}), rank0 = graph.input("rank0", {DType::kF32, {}});
  const auto error_at = [](unsigned line, auto body) {
    const std::string message = test::error_of(body);
    EXPECT_THAT(message, EndsWith(" (at nn_test.cpp:" + std::to_string(line) + ")"));
    return message;
  };
  layer.parameter("up.weight", {16, 9});
  EXPECT_THAT(error_at(this_line(), [&] { nn::linear(layer / "up", x, 16); }),
              StartsWith("model.layers.3.up: 'model.layers.3.up.weight' was declared as f32[16, 9] and is now declared as f32[16, 8]"));
  EXPECT_THAT(error_at(this_line(), [&] { nn::linear(layer / "id", ids, 16); }),
              StartsWith("model.layers.3.id: linear(i32[4], f32[16, 4]): "));
  EXPECT_THAT(error_at(this_line(), [&] { nn::linear(layer, rank0, 16); }), StartsWith("model.layers.3: f32[] has no axes"));
  EXPECT_THAT(error_at(this_line(), [&] { nn::linear(layer, Value(), 16); }), HasSubstr("found an empty Value"));
  EXPECT_THAT(error_at(this_line(), [&] { nn::rms_norm(layer / "norm", 3, 1e-5f); }), HasSubstr("found a number"));
  EXPECT_THAT(error_at(this_line(), [&] { nn::layer_norm(layer / "norm", ids, 1e-5f); }),
              StartsWith("model.layers.3.norm: layer_norm(i32[4]"));
  EXPECT_THAT(error_at(this_line(), [&] { nn::embedding(layer / "embed", x, 9, 4); }), StartsWith("model.layers.3.embed: embedding("));
  EXPECT_THAT(error_at(this_line(), [&] { nn::mlp(layer / "mlp", ragged, 9, nn::Activation::kRelu, false); }),
              StartsWith("model.layers.3.mlp: f32[2, width]: the last size is wanted as a number"));
  EXPECT_THAT(error_at(this_line(), [&] { nn::gated_mlp(layer / "mlp", ids, 9, nn::Activation::kSilu, false); }),
              StartsWith("model.layers.3.mlp.gate_proj: linear(i32[4]"));
  EXPECT_THAT(error_at(this_line(), [&] { nn::rope(x, {.head_dim = 6}); }), StartsWith("rope("));
  EXPECT_THAT(error_at(this_line(), [&] { nn::causal_attention(x, x, ids, {.heads = 2, .kv_heads = 2, .head_dim = 4}); }),
              StartsWith("attention(f32[tokens, 8]"));
  EXPECT_THAT(error_at(this_line(), [&] { layer.parameter("up.weight", {1}); }), HasSubstr("is now declared as f32[1]"));
}

}  // namespace
}  // namespace headrace
