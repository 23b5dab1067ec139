#include "ops/group_norm/group_norm.h"

#include "ops/test_support.h"

namespace headrace {
namespace {

using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

TEST(GroupNorm, KeepsTheType) {
  EXPECT_EQ(inferred("group_norm", GroupNorm{.groups = 4}, {"bf16[batch, 8, height, width]", "f32[8]"}), "bf16[batch, 8, height, width]");
  EXPECT_THAT(rejection("group_norm", GroupNorm{.groups = 3}, {"f32[1, 8, 5]"}), HasSubstr("groups"));
  EXPECT_THAT(rejection("group_norm", GroupNorm{.groups = 0}, {"f32[1, 0, 5]"}), HasSubstr("groups"));
  EXPECT_THAT(rejection("group_norm", GroupNorm{.groups = 2}, {"f32[1, 8, 5]", "f32[5]"}), HasSubstr("as many as x has channels"));
  EXPECT_THAT(rejection("group_norm", GroupNorm(), {"f32[8]"}), HasSubstr("(batch, channels, ...)"));
}

TEST(GroupNorm, ReferencesHavePyTorchsValues) {
  const HostTensor x = floats({1, 4, 2}, {1, 4, 9, 16, 25, 36, 49, 64});
  EXPECT_THAT(reference_floats("group_norm", GroupNorm{.groups = 2}, {x, floats({4}, {1, 2, 3, 4}), floats({4}, {0, 1, 0, -1})}),
              Pointwise(FloatNear(2e-6f),
                        std::vector<float>{-1.144586f, -0.616315f, 1.52827f, 3.993533f, -3.809511f, -1.544397f, 0.510076f, 4.628466f}));
  EXPECT_THAT(reference_floats("group_norm", GroupNorm(), {x}),
              Pointwise(FloatNear(2e-6f),
                        std::vector<float>{-1.159784f, -1.017769f, -0.781079f, -0.449712f, -0.023669f, 0.49705f, 1.112445f, 1.822517f}));
}

TEST(GroupNorm, EveryKernelMatchesTheReference) {
  const Check check{.relative = 1e-5, .absolute = 2e-5};
  for (int64_t places : {1, 7, 16, 1001}) {
    const HostTensor x = random_tensor({2, 6, places}), weight = random_tensor({6}, DType::kF32, 2),
                     bias = random_tensor({6}, DType::kF32, 3);
    expect_kernels_match_reference("group_norm", GroupNorm{.groups = 3}, {x, weight, bias}, check);
    expect_kernels_match_reference("group_norm", GroupNorm{.groups = 1, .eps = 1}, {x, constant(random_tensor({6}, DType::kBF16))}, check);
    expect_kernels_match_reference("group_norm", GroupNorm{.groups = 6}, {x}, check);
  }
  expect_kernels_match_reference("group_norm", GroupNorm{.groups = 2}, {random_tensor({3, 10})}, check);  // a group is part of a row
  expect_kernels_match_reference("group_norm", GroupNorm{.groups = 2}, {random_tensor({2, 4, 3, 5})}, check);
  expect_kernels_match_reference("group_norm", GroupNorm{.groups = 2}, {random_tensor({2, 4, 0})}, check);
}

}  // namespace
}  // namespace headrace
