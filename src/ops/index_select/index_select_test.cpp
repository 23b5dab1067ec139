#include "ops/index_select/index_select.h"

#include "ops/test_support.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(IndexSelect, OneAxisTakesTheNumberOfIndices) {
  EXPECT_EQ(inferred("index_select", IndexSelect(), {"f32[tokens, 8]", "i32[rows]"}), "f32[rows, 8]");
  EXPECT_EQ(inferred("index_select", IndexSelect{.axis = -1}, {"f32[tokens, 8]", "i64[3]"}), "f32[tokens, 3]");
  EXPECT_EQ(inferred("index_select", IndexSelect(), {"q8_0[9, 64]", "i64[3]"}), "q8_0[3, 64]");
  EXPECT_THAT(rejection("index_select", IndexSelect{.axis = 1}, {"q8_0[9, 64]", "i64[3]"}), HasSubstr("block type"));
  EXPECT_THAT(rejection("index_select", IndexSelect(), {"f32[9]", "i64[3, 1]"}), HasSubstr("one axis"));
  EXPECT_THAT(rejection("index_select", IndexSelect{.axis = 1}, {"f32[9]", "i64[3]"}), HasSubstr("axis 1"));
}

TEST(IndexSelect, ChoosesAlongEitherAxisAndStaysInside) {
  const HostTensor x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(reference_floats("index_select", IndexSelect(), {x, integers({3}, {1, 0, 5})}), ElementsAre(4, 5, 6, 1, 2, 3, 4, 5, 6));
  EXPECT_THAT(reference_floats("index_select", IndexSelect{.axis = 1}, {x, integers({2}, {2, -1})}), ElementsAre(3, 1, 6, 4));
}

TEST(IndexSelect, EveryKernelMatchesTheReference) {
  const HostTensor indices = integers({4}, {3, 0, 3, 100});
  for (int64_t axis : {0, 1, 2, -2})
    expect_kernels_match_reference("index_select", IndexSelect{.axis = axis}, {random_tensor({4, 5, 6}), indices});
  for (DType dtype : {DType::kF16, DType::kI64, DType::kBool, DType::kQ4_1, DType::kQ6_K})
    expect_kernels_match_reference("index_select", IndexSelect(),
                                   {random_tensor({4, 2560}, dtype), integers({3}, {2, 2, -7}, DType::kI64)});
  expect_kernels_match_reference("index_select", IndexSelect(), {random_tensor({7}), indices});
  expect_kernels_match_reference("index_select", IndexSelect(), {random_tensor({0, 3}), indices});
  expect_kernels_match_reference("index_select", IndexSelect(), {random_tensor({2, 3}), integers({0}, {})});
}

}  // namespace
}  // namespace headrace
