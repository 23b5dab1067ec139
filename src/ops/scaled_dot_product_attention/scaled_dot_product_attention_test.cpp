#include "ops/scaled_dot_product_attention/scaled_dot_product_attention.h"

#include <limits>

#include "ops/test_support.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;

constexpr char kOp[] = "scaled_dot_product_attention";

TEST(ScaledDotProductAttention, ShapeRule) {
  EXPECT_EQ(inferred(kOp, {}, {"f32[b, 8, l, 16]", "f32[b, 2, s, 16]", "f32[b, 2, s, 24]"}), "f32[b, 8, l, 24]");
  EXPECT_EQ(inferred(kOp, {}, {"bf16[h, l, 16]", "bf16[h, s, 16]", "bf16[h, s, 16]", "bool[l, s]"}), "bf16[h, l, 16]");
  EXPECT_THAT(rejection(kOp, {}, {"f32[b, 8, l, 16]", "f32[b, 3, s, 16]", "f32[b, 3, s, 16]"}), HasSubstr("multiple"));
  EXPECT_THAT(rejection(kOp, {}, {"f32[b, 8, l, 16]", "f32[c, 8, s, 16]", "f32[c, 8, s, 16]"}), HasSubstr("batch axes"));
  EXPECT_THAT(rejection(kOp, {}, {"f32[8, l, 16]", "f32[8, s, 12]", "f32[8, s, 12]"}), HasSubstr("one width"));
  EXPECT_THAT(rejection(kOp, {}, {"f32[8, l, 16]", "f32[8, s, 16]", "f32[8, t, 16]"}), HasSubstr("as many values as keys"));
  EXPECT_THAT(rejection(kOp, {}, {"f32[8, l, 16]", "f32[8, s, 16]", "f32[8, s, 16]", "i32[l, s]"}), HasSubstr("mask"));
  EXPECT_THAT(rejection(kOp, {}, {"f32[8, l, 16]", "f32[8, s, 16]", "f32[8, s, 16]", "bool[s, l]"}), HasSubstr("broadcast"));
}

TEST(ScaledDotProductAttention, EveryKernelMatchesTheReferenceForAnyNumberOfQueriesAndKeys) {
  struct Case {
    int64_t batch, heads, kv_heads, L, S, E;
  };
  for (const Case& c : {Case{2, 4, 2, 5, 5, 8}, Case{1, 1, 1, 1, 300, 64}, Case{2, 3, 1, 130, 130, 20}, Case{1, 2, 2, 7, 3, 16},
                        Case{3, 2, 1, 0, 4, 8}, Case{1, 2, 1, 4, 0, 8}})
    for (const bool causal : {false, true}) {
      if (causal && c.L != c.S) continue;
      const HostTensor q = random_tensor({c.batch, c.heads, c.L, c.E}), k = random_tensor({c.batch, c.kv_heads, c.S, c.E}, DType::kF32, 2),
                       v = random_tensor({c.batch, c.kv_heads, c.S, c.E}, DType::kF32, 3);
      expect_kernels_match_reference(kOp, ScaledDotProduct{.scale = 0.3f, .causal = causal}, {q, k, v},
                                     {.relative = 1e-5, .absolute = 1e-5});
      expect_kernels_match_reference(kOp, ScaledDotProduct{.causal = causal}, {q, k, v}, {.relative = 1e-5, .absolute = 1e-5});
    }
}

TEST(ScaledDotProductAttention, DecompositionMeansTheSame) {
  const HostTensor q = random_tensor({2, 4, 5, 8}), k = random_tensor({2, 2, 6, 8}, DType::kF32, 2),
                   v = random_tensor({2, 2, 6, 3}, DType::kF32, 3);
  HostTensor seen(DType::kBool, {5, 6});
  for (int64_t i = 0; i < 30; ++i) seen.as<bool>()[i] = i % 6 == 0 || i % 3 == 1;
  const Check check{.relative = 1e-5, .absolute = 1e-5};
  for (const bool causal : {false, true}) {
    expect_decomposition_matches(kOp, ScaledDotProduct{.causal = causal}, {q, k, v}, check);
    expect_decomposition_matches(kOp, ScaledDotProduct{.scale = 0.25f, .causal = causal}, {q, k, v, seen}, check);
    expect_decomposition_matches(kOp, ScaledDotProduct{.causal = causal}, {q, k, v, random_tensor({2, 1, 5, 6}, DType::kF32, 4)}, check);
  }
}

}  // namespace
}  // namespace headrace
