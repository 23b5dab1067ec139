#include "ops/layer_norm/layer_norm.h"

#include "ops/test_support.h"

namespace headrace {
namespace {

using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

TEST(LayerNorm, WeightAndBiasMayBeMissing) {
  EXPECT_EQ(inferred("layer_norm", LayerNorm(), {"f32[tokens, 64]"}), "f32[tokens, 64]");
  EXPECT_EQ(inferred("layer_norm", LayerNorm(), {"f16[tokens, 64]", "f32[64]", "f32[64]"}), "f16[tokens, 64]");
  EXPECT_EQ(inferred("add_layer_norm", LayerNorm(), {"f32[tokens, 64]", "f32[tokens, 64]", "f32[64]"}), "f32[tokens, 64], f32[tokens, 64]");
  EXPECT_THAT(rejection("layer_norm", LayerNorm(), {"f32[tokens, 64]", "f32[64]", "f32[63]"}), HasSubstr("weight and bias are wanted"));
  EXPECT_THAT(rejection("add_layer_norm", LayerNorm(), {"f32[tokens, 64]", "f16[tokens, 64]"}), HasSubstr("one type"));
}

TEST(LayerNorm, ReferenceHasPyTorchsValues) {
  const HostTensor x = floats({2, 4}, {1, 2, 3, 4, -1, 0, 1, 8});
  const std::vector<float> plain = {-1.34163542f, -0.44721181f, 0.44721181f,  1.34163542f,
                                    -0.84852771f, -0.56568514f, -0.28284257f, 1.69705542f};
  EXPECT_THAT(reference_floats("layer_norm", LayerNorm(), {x}), Pointwise(FloatNear(1e-6f), plain));
  const std::vector<float> scaled = {-1.34163542f, 0.10557639f,  0.22360590f,  -2.34163542f,
                                     -0.84852771f, -0.13137028f, -0.14142129f, -2.69705542f};
  EXPECT_THAT(reference_floats("layer_norm", LayerNorm(), {x, floats({4}, {1, 2, 0.5, -1}), floats({4}, {0, 1, 0, -1})}),
              Pointwise(FloatNear(1e-6f), scaled));
}

TEST(LayerNorm, EveryKernelMatchesTheReference) {
  const Check check{.relative = 1e-5, .absolute = 4e-6};
  for (int64_t hidden : {1, 31, 128, 769}) {
    const HostTensor x = random_tensor({2, 3, hidden}), y = random_tensor({2, 3, hidden}, DType::kF32, 2);
    const HostTensor weight = random_tensor({hidden}, DType::kF32, 3), bias = random_tensor({hidden}, DType::kF32, 4);
    expect_kernels_match_reference("layer_norm", LayerNorm(), {x}, check);
    expect_kernels_match_reference("layer_norm", LayerNorm{.weight_offset = 1}, {x, weight}, check);
    expect_kernels_match_reference("layer_norm", LayerNorm(), {x, weight, constant(bias)}, check);
    expect_kernels_match_reference("add_layer_norm", LayerNorm(), {x, y}, check);
    expect_kernels_match_reference("add_layer_norm", LayerNorm{.eps = 1e-12f}, {x, y, weight, bias}, {.relative = 1e-5, .absolute = 4e-6});
  }
  expect_kernels_match_reference(
      "layer_norm", LayerNorm(),
      {random_tensor({3, 40}), constant(random_tensor({40}, DType::kF16)), constant(random_tensor({40}, DType::kBF16))}, check);
}

TEST(LayerNorm, ALargeMeanDoesNotDrownTheVariance) {
  HostTensor x = random_tensor({2, 100});
  for (int i = 0; i < 200; ++i) x.as<float>()[i] += 1000;
  expect_kernels_match_reference("layer_norm", LayerNorm(), {x}, {.relative = 1e-3, .absolute = 1e-3});
}

TEST(LayerNorm, DecomposesIntoSumAndNorm) {
  const HostTensor x = random_tensor({3, 20}), y = random_tensor({3, 20}, DType::kF32, 2);
  expect_decomposition_matches("add_layer_norm", LayerNorm(), {x, y});
  expect_decomposition_matches("add_layer_norm", LayerNorm{.weight_offset = 1},
                               {x, y, random_tensor({20}), random_tensor({20}, DType::kF32, 3)});
}

TEST(LayerNorm, DecompositionMeansTheSame) {
  const HostTensor x = random_tensor({3, 37}), w = random_tensor({37}, DType::kBF16, 2), b = random_tensor({37}, DType::kF32, 3);
  expect_decomposition_matches("layer_norm", LayerNorm{.eps = 0.25f}, {x});
  expect_decomposition_matches("layer_norm", LayerNorm{.eps = 0.25f, .weight_offset = 1}, {x, w});
  expect_decomposition_matches("layer_norm", LayerNorm{}, {x, w, b});
}

}  // namespace
}  // namespace headrace
