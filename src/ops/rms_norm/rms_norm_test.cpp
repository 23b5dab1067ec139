#include "ops/rms_norm/rms_norm.h"

#include "ops/test_support.h"

namespace headrace {
namespace {

using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

TEST(RmsNorm, WantsAWeightOfTheLastAxis) {
  EXPECT_EQ(inferred("rms_norm", RmsNorm(), {"f32[tokens, 64]", "bf16[64]"}), "f32[tokens, 64]");
  EXPECT_EQ(inferred("add_rms_norm", RmsNorm(), {"f32[tokens, 64]", "f32[tokens, 64]", "f32[64]"}), "f32[tokens, 64], f32[tokens, 64]");
  EXPECT_THAT(rejection("rms_norm", RmsNorm(), {"f32[tokens, 64]", "f32[32]"}),
              HasSubstr("rms_norm(f32[tokens, 64], f32[32]): the weight is wanted"));
  EXPECT_THAT(rejection("add_rms_norm", RmsNorm(), {"f32[tokens, 64]", "f32[1, 64]", "f32[64]"}), HasSubstr("one type"));
}

TEST(RmsNorm, ReferenceHasPyTorchsValues) {
  const HostTensor x = floats({2, 4}, {1, 2, 3, 4, -1, 0, 1, 8}), weight = floats({4}, {1, 2, 0.5, -1});
  EXPECT_THAT(
      reference_floats("rms_norm", RmsNorm{.eps = 1e-5f}, {x, weight}),
      Pointwise(FloatNear(1e-6f), {0.36514813f, 1.46059254f, 0.54772220f, -1.46059254f, -0.24618297f, 0.0f, 0.12309148f, -1.96946373f}));
  EXPECT_THAT(
      reference_floats("rms_norm", RmsNorm{.eps = 1e-5f, .weight_offset = 1}, {x, floats({4}, {0, 1, -0.5, -2})}),
      Pointwise(FloatNear(1e-6f), {0.36514813f, 1.46059254f, 0.54772220f, -1.46059254f, -0.24618297f, 0.0f, 0.12309148f, -1.96946373f}));
}

TEST(RmsNorm, EveryKernelMatchesTheReference) {
  for (int64_t hidden : {1, 31, 128, 577, 4096}) {
    const HostTensor x = random_tensor({2, 3, hidden}), y = random_tensor({2, 3, hidden}, DType::kF32, 2),
                     weight = random_tensor({hidden}, DType::kF32, 3);
    for (float offset : {0.0f, 1.0f}) {
      const RmsNorm norm{.eps = 1e-5f, .weight_offset = offset};
      expect_kernels_match_reference("rms_norm", norm, {x, weight}, {.relative = 1e-5});
      expect_kernels_match_reference("add_rms_norm", norm, {x, y, constant(weight)}, {.relative = 1e-5});
    }
  }
  for (DType dtype : {DType::kF16, DType::kBF16})
    expect_kernels_match_reference("rms_norm", RmsNorm(), {random_tensor({3, 40}), constant(random_tensor({40}, dtype))},
                                   {.relative = 1e-5});
}

TEST(RmsNorm, DecomposesIntoSumAndNorm) {
  expect_decomposition_matches("add_rms_norm", RmsNorm{.eps = 1e-3f, .weight_offset = 1},
                               {random_tensor({3, 20}), random_tensor({3, 20}, DType::kF32, 2), random_tensor({20})});
}

TEST(RmsNorm, DecompositionMeansTheSame) {
  for (DType x : {DType::kF32, DType::kBF16})
    expect_decomposition_matches("rms_norm", RmsNorm{.eps = 0.25f, .weight_offset = 1},
                                 {random_tensor({3, 37}, x), random_tensor({37}, DType::kBF16, 2)},
                                 {.relative = x == DType::kF32 ? 2e-6 : 1e-2});
}

}  // namespace
}  // namespace headrace
