#include "ops/where/where.h"

#include "ops/test_support.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Where, ThreeShapesBroadcast) {
  EXPECT_EQ(inferred("where", {}, {"bool[tokens, 1]", "f32[8]", "f16[]"}), "f32[tokens, 8]");
  EXPECT_THAT(rejection("where", {}, {"i32[3]", "f32[3]", "f32[3]"}), HasSubstr("as bool"));
  EXPECT_THAT(rejection("where", {}, {"bool[3]", "f32[4]", "f32[4]"}), HasSubstr("do not broadcast"));
}

TEST(Where, ChoosesByTheCondition) {
  EXPECT_THAT(reference_floats("where", {}, {integers({2, 1}, {1, 0}, DType::kBool), floats({2}, {1, 2}), floats({}, {-1})}),
              ElementsAre(1, 2, -1, -1));
  const HostTensor z = run_reference("where", {}, {integers({2}, {0, 1}, DType::kBool), integers({2}, {1, 2}), integers({2}, {3, 4})})[0];
  EXPECT_EQ(z.as<int32_t>()[0], 3);
  EXPECT_EQ(z.as<int32_t>()[1], 2);
}

TEST(Where, EveryKernelMatchesTheReference) {
  expect_kernels_match_reference("where", {},
                                 {random_tensor({5, 33}, DType::kBool), random_tensor({5, 33}), random_tensor({33}, DType::kF32, 2)});
  expect_kernels_match_reference("where", {},
                                 {random_tensor({3, 1, 7}, DType::kBool), random_tensor({5, 1}), random_tensor({}, DType::kF32, 2)});
}

}  // namespace
}  // namespace headrace
