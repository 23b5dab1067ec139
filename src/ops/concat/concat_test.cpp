#include "ops/concat/concat.h"

#include "ops/test_support.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Concat, SizesOfTheAxisAddUp) {
  EXPECT_EQ(inferred("concat", Concat(), {"f32[tokens, 8]", "f32[3, 8]", "f32[tokens, 8]"}), "f32[2*tokens+3, 8]");
  EXPECT_EQ(inferred("concat", Concat{.axis = -1}, {"f32[tokens, 8]", "f32[tokens, 2]"}), "f32[tokens, 10]");
  EXPECT_EQ(inferred("concat", Concat(), {"q8_0[2, 32]", "q8_0[3, 32]"}), "q8_0[5, 32]");
  EXPECT_THAT(rejection("concat", Concat{.axis = 1}, {"q8_0[2, 32]", "q8_0[2, 32]"}), HasSubstr("last axis"));
  EXPECT_THAT(rejection("concat", Concat(), {"f32[2, 8]", "f32[2, 7]"}), HasSubstr("operand 1"));
  EXPECT_THAT(rejection("concat", Concat(), {"f32[2]", "f16[2]"}), HasSubstr("one element type"));
}

TEST(Concat, OneAfterTheOther) {
  const HostTensor x = floats({2, 2}, {1, 2, 3, 4}), y = floats({2, 1}, {5, 6});
  EXPECT_THAT(reference_floats("concat", Concat{.axis = 1}, {x, y}), ElementsAre(1, 2, 5, 3, 4, 6));
  EXPECT_THAT(reference_floats("concat", Concat(), {x, x}), ElementsAre(1, 2, 3, 4, 1, 2, 3, 4));
}

TEST(Concat, EveryKernelMatchesTheReference) {
  for (DType dtype : {DType::kF32, DType::kF16, DType::kI64, DType::kU8}) {
    expect_kernels_match_reference(
        "concat", Concat{.axis = -1},
        {random_tensor({3, 2, 5}, dtype), random_tensor({3, 2, 1031}, dtype, 2), random_tensor({3, 2, 0}, dtype)});
    expect_kernels_match_reference("concat", Concat{.axis = 1}, {random_tensor({3, 2, 5}, dtype), random_tensor({3, 4, 5}, dtype, 2)});
  }
  expect_kernels_match_reference("concat", Concat(), {random_tensor({3, 256}, DType::kQ4_K), random_tensor({2, 256}, DType::kQ4_K, 2)});
}

}  // namespace
}  // namespace headrace
