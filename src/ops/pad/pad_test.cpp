#include "ops/pad/pad.h"

#include "ops/test_support.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Pad, SizesGrow) {
  EXPECT_EQ(inferred("pad", Pad{.pads = {1, 2}}, {"f32[tokens, 8]"}), "f32[tokens, 11]");
  EXPECT_EQ(inferred("pad", Pad{.pads = {0, 0, 1, 2}}, {"bool[tokens, 8]"}), "bool[tokens+3, 8]");
  EXPECT_EQ(inferred("pad", Pad(), {"f32[]"}), "f32[]");
  EXPECT_THAT(rejection("pad", Pad{.pads = {1}}, {"f32[3]"}), HasSubstr("two numbers"));
  EXPECT_THAT(rejection("pad", Pad{.pads = {1, 1, 1, 1}}, {"f32[3]"}), HasSubstr("two numbers"));
  EXPECT_THAT(rejection("pad", Pad{.pads = {-1, 0}}, {"f32[3]"}), HasSubstr("slice cuts"));
  EXPECT_THAT(rejection("pad", Pad{.pads = {int64_t{1} << 62, 0}}, {"f32[3]"}), HasSubstr("2^30"));
  EXPECT_THAT(rejection("pad", Pad{.pads = {1, 0}, .value = 0.5}, {"i32[3]"}), HasSubstr("integer"));
  EXPECT_THAT(rejection("pad", Pad{.pads = {1, 0}, .value = 1e300}, {"i64[3]"}), HasSubstr("integer"));
  EXPECT_THAT(rejection("pad", Pad{.pads = {32, 0}}, {"q8_0[32]"}), HasSubstr("cast"));
}

TEST(Pad, ReferencesHavePyTorchsValues) {
  EXPECT_THAT(reference_floats("pad", Pad{.pads = {1, 0, 0, 1}, .value = 9}, {floats({2, 2}, {1, 2, 3, 4})}),
              ElementsAre(9, 1, 2, 9, 3, 4, 9, 9, 9));
}

TEST(Pad, EveryKernelMatchesTheReference) {
  for (DType dtype : {DType::kF32, DType::kBF16, DType::kI64, DType::kI8, DType::kBool}) {
    expect_kernels_match_reference("pad", Pad{.pads = {2, 3}, .value = -1}, {random_tensor({3, 17}, dtype)});
    expect_kernels_match_reference("pad", Pad{.pads = {0, 1, 2, 0, 1, 1}, .value = 7}, {random_tensor({2, 3, 4, 5}, dtype)});
    expect_kernels_match_reference("pad", Pad{.pads = {1, 2}}, {random_tensor({3, 0}, dtype)});
    expect_kernels_match_reference("pad", Pad{.pads = {1, 0, 1, 0}}, {random_tensor({0, 3}, dtype)});
    expect_kernels_match_reference("pad", Pad(), {random_tensor({}, dtype)});
  }
}

}  // namespace
}  // namespace headrace
