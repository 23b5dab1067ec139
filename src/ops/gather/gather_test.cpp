#include "ops/gather/gather.h"

#include "ops/test_support.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Gather, HasTheIndexsShape) {
  EXPECT_EQ(inferred("gather", Gather{.axis = -1}, {"bf16[tokens, 8]", "i64[tokens, 2]"}), "bf16[tokens, 2]");
  EXPECT_EQ(inferred("gather", Gather(), {"f32[tokens, 8]", "i32[3, 5]"}), "f32[3, 5]");
  EXPECT_THAT(rejection("gather", Gather(), {"f32[tokens, 8]", "i64[3, 9]"}), HasSubstr("9 elements along axis 1"));
  EXPECT_THAT(rejection("gather", Gather{.axis = 1}, {"f32[tokens, 8]", "i64[sequences, 8]"}), HasSubstr("sequences elements"));
  EXPECT_THAT(rejection("gather", Gather(), {"f32[4, 8]", "i64[4]"}), HasSubstr("as many axes"));
  EXPECT_THAT(rejection("gather", Gather(), {"f32[4]", "f32[4]"}), HasSubstr("i32 or i64"));
  EXPECT_THAT(rejection("gather", Gather(), {"q8_0[4, 32]", "i64[4, 32]"}), HasSubstr("cast"));
}

TEST(Gather, ReferencesHavePyTorchsValuesAndIndicesAreClamped) {
  const HostTensor x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(reference_floats("gather", Gather{.axis = 1}, {x, integers({2, 2}, {2, 0, 1, 1})}), ElementsAre(3, 1, 5, 5));
  EXPECT_THAT(reference_floats("gather", Gather(), {x, integers({1, 3}, {1, 0, 1}, DType::kI64)}), ElementsAre(4, 2, 6));
  EXPECT_THAT(reference_floats("gather", Gather(), {x, integers({1, 3}, {-1, 7, int64_t{1} << 40}, DType::kI64)}), ElementsAre(1, 5, 6));
}

TEST(Gather, EveryKernelMatchesTheReference) {
  for (DType dtype : {DType::kF32, DType::kF16, DType::kI64, DType::kU8})
    for (DType index : {DType::kI32, DType::kI64}) {
      expect_kernels_match_reference("gather", Gather{.axis = -1}, {random_tensor({3, 17}, dtype), random_tensor({3, 1030}, index, 2, 18)});
      expect_kernels_match_reference("gather", Gather{.axis = 1}, {random_tensor({3, 4, 5}, dtype), random_tensor({2, 7, 3}, index, 2, 4)});
      expect_kernels_match_reference("gather", Gather(), {random_tensor({4, 5}, dtype), random_tensor({6, 5}, index, 2, 4)});
    }
  expect_kernels_match_reference("gather", Gather(), {random_tensor({0, 5}), random_tensor({6, 5}, DType::kI32)});
}

}  // namespace
}  // namespace headrace
