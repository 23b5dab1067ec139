#include "ops/attention/attention.h"

#include <cmath>

#include "ops/test_support.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;

const std::vector<std::string> kTypes = {"f32[tokens, 64]", "f32[tokens, 32]", "f32[tokens, 32]", "i32[sequences+1]"};
const Attention kPlain{.heads = 4, .kv_heads = 2, .head_dim = 16};

TEST(Attention, HasTheTypeOfQ) { EXPECT_EQ(inferred("attention", kPlain, kTypes), "f32[tokens, 64]"); }

TEST(Attention, RefusesWhatCannotBe) {
  const auto with = [](auto change) {
    Attention a = kPlain;
    change(a);
    return rejection("attention", a, kTypes);
  };
  EXPECT_THAT(with([](Attention& a) { a.heads = 3; }), HasSubstr("multiple of kv_heads"));
  EXPECT_THAT(with([](Attention& a) { a.kv_heads = 0; }), HasSubstr("above 0"));
  EXPECT_THAT(with([](Attention& a) { a.head_dim = 32; }), HasSubstr("q is wanted"));
  EXPECT_THAT(with([](Attention& a) { a.window = -1; }), HasSubstr("window"));
  EXPECT_THAT(with([](Attention& a) { a.window = 4, a.causal = false; }), HasSubstr("window"));
  EXPECT_THAT(with([](Attention& a) { a.softcap = -1; }), HasSubstr("softcap"));
  EXPECT_THAT(with([](Attention& a) { a.scale = NAN; }), HasSubstr("scale"));
  EXPECT_THAT(rejection("attention", kPlain, {kTypes[0], "f32[others, 32]", kTypes[2], kTypes[3]}), HasSubstr("k is wanted"));
  EXPECT_THAT(rejection("attention", kPlain, {kTypes[0], kTypes[1], "f16[tokens, 32]", kTypes[3]}), HasSubstr("v is wanted"));
  EXPECT_THAT(rejection("attention", kPlain, {kTypes[0], kTypes[1], kTypes[2], "i64[9]"}), HasSubstr("sequence_offsets"));
}

TEST(Attention, AveragesValuesByTheSoftmaxOfScores) {
  const Attention a{.heads = 1, .kv_heads = 1, .head_dim = 1, .scale = 2};
  const float log2 = 0.69314718f;  // scores of token 1: 2 * q * k = 0 and log 4
  const std::vector<TestOperand> operands = {floats({2, 1}, {1, 1}), floats({2, 1}, {0, log2}), floats({2, 1}, {10, 20}),
                                             integers({2}, {0, 2})};
  const std::vector<float> y = reference_floats("attention", a, operands);
  EXPECT_FLOAT_EQ(y[0], 10);
  EXPECT_FLOAT_EQ(y[1], 10 * 0.2f + 20 * 0.8f);
}

TEST(Attention, AWindowForgetsAndSequencesAreApart) {
  const Attention a{.heads = 1, .kv_heads = 1, .head_dim = 1, .window = 2};
  const std::vector<TestOperand> operands = {floats({5, 1}, {0, 0, 0, 0, 0}), floats({5, 1}, {0, 0, 0, 0, 0}),
                                             floats({5, 1}, {1, 3, 5, 7, 9}), integers({3}, {0, 3, 5})};
  EXPECT_EQ(reference_floats("attention", a, operands), (std::vector<float>{1, 2, 4, 7, 8}));
}

std::vector<TestOperand> operands(const Attention& a, const std::vector<int64_t>& offsets, float scale = 2) {
  const int64_t tokens = offsets.back();
  return {random_tensor({tokens, a.heads * a.head_dim}, DType::kF32, 1, scale),
          random_tensor({tokens, a.kv_heads * a.head_dim}, DType::kF32, 2, scale),
          random_tensor({tokens, a.kv_heads * a.head_dim}, DType::kF32, 3), integers({int64_t(offsets.size())}, offsets)};
}

const Check kCheck{.relative = 1e-5, .absolute = 1e-5};

TEST(Attention, KernelsMatchTheReferenceForAllHeads) {
  for (int head_dim : {1, 12, 16, 20, 64, 80, 96, 128, 256}) {
    const Attention a{.heads = 2, .kv_heads = 1, .head_dim = head_dim};
    expect_kernels_match_reference("attention", a, operands(a, {0, 1, 1, 38}), kCheck);
  }
  for (int group : {1, 2, 3, 7, 8, 71}) {
    const Attention a{.heads = 2 * group, .kv_heads = 2, .head_dim = 20};
    expect_kernels_match_reference("attention", a, operands(a, {0, 17, 20}), kCheck);
  }
}

TEST(Attention, KernelsMatchTheReferenceOverManyChunks) {
  for (bool causal : {true, false})
    for (float softcap : {0.0f, 3.0f})
      for (int window : {0, 1, 5, 128, 200}) {
        if (window && !causal) continue;
        const Attention a{.heads = 2, .kv_heads = 1, .head_dim = 12, .scale = 0.7f, .causal = causal, .window = window, .softcap = softcap};
        expect_kernels_match_reference("attention", a, operands(a, {0, 3, 262, 300}), kCheck);
      }
}

TEST(Attention, KernelsHoldLargeScores) {
  const Attention a{.heads = 1, .kv_heads = 1, .head_dim = 64};
  expect_kernels_match_reference("attention", a, operands(a, {0, 300}, 60), {.relative = 1e-3, .absolute = 1e-3});
}

TEST(Attention, WhatIsNotFiniteReachesOnlyWhoSeesIt) {
  const Attention a{.heads = 1, .kv_heads = 1, .head_dim = 16};
  for (int operand : {0, 1, 2})
    for (float bad : {NAN, INFINITY, -INFINITY}) {
      std::vector<TestOperand> in = operands(a, {0, 40, 60});
      in[operand].tensor.as<float>()[17 * 16 + 3] = bad;
      const std::vector<float> y = reference_floats("attention", a, in);
      EXPECT_TRUE(std::isfinite(y[17 * 16 - 1]) && std::isfinite(y[40 * 16]));
      EXPECT_TRUE(!std::isfinite(y[17 * 16 + 3]) || (operand == 1 && !std::isnan(bad)));  // a score of -infinity is a weight of 0
      expect_kernels_match_reference("attention", a, in, kCheck);
    }
}

}  // namespace
}  // namespace headrace
