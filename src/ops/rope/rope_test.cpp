#include "ops/rope/rope.h"

#include <cmath>

#include "ops/test_support.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

TEST(RopeTable, CosinesThenSinesOfEachPosition) {
  EXPECT_EQ(inferred("rope_table", RopeTable(), {"i32[tokens]", "f32[32]"}), "f32[tokens, 64]");
  EXPECT_THAT(rejection("rope_table", RopeTable(), {"i64[tokens]", "f32[32]"}), HasSubstr("i32"));
  EXPECT_THAT(reference_floats("rope_table", RopeTable{.scale = 2}, {integers({2}, {0, 5}), floats({2}, {1, 0.01f})}),
              Pointwise(FloatNear(1e-7f * 2),
                        {2.0f, 2.0f, 0.0f, 0.0f, 2 * 0.2836621855f, 2 * 0.9987502604f, 2 * -0.9589242747f, 2 * 0.0499791682f}));
}

TEST(RopeTable, TheAngleIsRoundedToFp32BeforeItsCosine) {
  // 123457 * 0.10539922 is 13012.272... as an fp32; its cosine is not that of the exact product.
  const std::vector<float> table = reference_floats("rope_table", RopeTable(), {integers({1}, {123457}), floats({1}, {0.10539922f})});
  const double angle = float(123457.0f * 0.10539922f);
  EXPECT_EQ(table[0], float(std::cos(angle)));
  EXPECT_EQ(table[1], float(std::sin(angle)));
  EXPECT_NE(table[0], float(std::cos(123457.0 * double(0.10539922f))));
}

TEST(RopeTable, LongSequencesTurnByTheirOwnFrequencies) {
  const RopeTable table{.longest_short = 8};
  EXPECT_EQ(inferred("rope_table", table, {"i32[tokens]", "f32[2]", "i32[tokens]", "f32[2]"}), "f32[tokens, 4]");
  EXPECT_THAT(rejection("rope_table", table, {"i32[tokens]", "f32[2]", "i32[tokens]"}), HasSubstr("two or four"));
  EXPECT_THAT(rejection("rope_table", table, {"i32[tokens]", "f32[2]", "i32[tokens]", "f32[3]"}), HasSubstr("long inverse"));
  EXPECT_THAT(rejection("rope_table", table, {"i32[tokens]", "f32[2]", "f32[tokens]", "f32[2]"}), HasSubstr("reach"));
  const std::vector<TestOperand> inputs{integers({3}, {3, 3, 3}), floats({1}, {1}), integers({3}, {8, 9, 100}), floats({1}, {0.5f})};
  const std::vector<float> angles = reference_floats("rope_table", table, inputs);
  EXPECT_THAT(angles,
              Pointwise(FloatNear(1e-7f), {std::cos(3.0), std::sin(3.0), std::cos(1.5), std::sin(1.5), std::cos(1.5), std::sin(1.5)}));
  expect_kernels_match_reference("rope_table", table, inputs, {.relative = 0, .absolute = 0});
}

TEST(RopeTable, EveryKernelMatchesTheReference) {
  expect_kernels_match_reference("rope_table", RopeTable{.scale = 1.25f},
                                 {integers({5}, {0, 1, 77, 4095, 1000000}), floats({3}, {1, 0.31622776f, 1e-4f})},
                                 {.relative = 0, .absolute = 0});
}

TEST(Rope, WantsWholeHeadsAndARotaryPartThatFits) {
  EXPECT_EQ(inferred("rope", Rope{.head_dim = 16}, {"f32[tokens, 48]", "f32[tokens, 8]"}), "f32[tokens, 48]");
  EXPECT_THAT(rejection("rope", Rope{.head_dim = 16}, {"f32[tokens, 40]", "f32[tokens, 8]"}), HasSubstr("multiple of head_dim, 16"));
  EXPECT_THAT(rejection("rope", Rope{.head_dim = 16}, {"f32[tokens, 48]", "f32[tokens, 18]"}), HasSubstr("at most head_dim"));
  EXPECT_THAT(rejection("rope", Rope(), {"f32[tokens, 48]", "f32[tokens, 8]"}), HasSubstr("head_dim"));
  EXPECT_THAT(rejection("rope", Rope{.head_dim = 16}, {"f32[tokens, 48]", "f32[3, 8]"}), HasSubstr("table"));
}

TEST(Rope, TurnsHalvesOrNeighbours) {
  // A quarter turn for the first pair, none for the second; the fifth element is not turned.
  const HostTensor x = floats({1, 5}, {1, 2, 3, 4, 5}), table = floats({1, 4}, {0, 1, 1, 0});
  EXPECT_THAT(reference_floats("rope", Rope{.head_dim = 5}, {x, table}), ElementsAre(-3, 2, 1, 4, 5));
  EXPECT_THAT(reference_floats("rope", Rope{.head_dim = 5, .interleaved = true}, {x, table}), ElementsAre(-2, 1, 3, 4, 5));
}

TEST(Rope, EveryKernelMatchesTheReference) {
  for (bool interleaved : {false, true})
    for (auto [head_dim, rotary_dim] : {std::pair(2, 2), {10, 6}, {64, 64}, {80, 34}, {128, 128}})
      expect_kernels_match_reference("rope", Rope{.head_dim = head_dim, .interleaved = interleaved},
                                     {random_tensor({5, 3 * head_dim}), random_tensor({5, rotary_dim}, DType::kF32, 2, 1)});
}

TEST(Rope, DecompositionMeansTheSame) {
  for (bool interleaved : {false, true})
    for (int64_t rotary : {4, 8})
      expect_decomposition_matches("rope", Rope{.head_dim = 8, .interleaved = interleaved},
                                   {random_tensor({5, 24}), random_tensor({5, rotary}, DType::kF32, 2)});
}

}  // namespace
}  // namespace headrace
