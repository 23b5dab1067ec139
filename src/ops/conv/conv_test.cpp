#include "ops/conv/conv.h"

#include "ops/test_support.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// 1, 2, 3 ...
HostTensor counting(const Sizes& sizes) {
  std::vector<float> values(static_cast<size_t>(sizes.numel()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = float(i + 1);
  return floats(sizes, values);
}

TEST(Conv, CountsPlacesAsPyTorchAlsoOverSymbols) {
  EXPECT_EQ(inferred("conv1d", Conv(), {"f32[batch, 3, length]", "f32[8, 3, 5]", "f32[8]"}), "f32[batch, 8, length-4]");
  EXPECT_EQ(inferred("conv1d", Conv{.padding = {2}}, {"bf16[batch, 3, length]", "f16[8, 3, 5]"}), "bf16[batch, 8, length]");
  EXPECT_EQ(inferred("conv2d", Conv{.stride = {2}, .padding = {1}}, {"f32[batch, 3, 224, 30]", "f32[8, 3, 3, 3]"}),
            "f32[batch, 8, 112, 15]");
  EXPECT_EQ(inferred("conv2d", Conv{.stride = {2}, .padding = {1}}, {"f32[1, 3, 2*rows, 4*columns+3]", "f32[8, 3, 3, 3]"}),
            "f32[1, 8, rows, 2*columns+2]");
  EXPECT_EQ(inferred("conv2d", Conv{.dilation = {1, 2}, .groups = 4}, {"f32[1, 8, 5, 5]", "f32[12, 2, 3, 3]"}), "f32[1, 12, 3, 1]");
}

TEST(Conv, RefusesWhatDoesNotFitAndSaysWhy) {
  EXPECT_THAT(rejection("conv1d", Conv{.stride = {2}}, {"f32[1, 3, length]", "f32[8, 3, 5]"}), HasSubstr("2*n"));
  EXPECT_THAT(rejection("conv1d", Conv(), {"f32[3, 9]", "f32[8, 3, 5]"}), HasSubstr("(batch, in, length)"));
  EXPECT_THAT(rejection("conv1d", Conv(), {"f32[1, 4, 9]", "f32[8, 3, 5]"}), HasSubstr("4 channels"));
  EXPECT_THAT(rejection("conv1d", Conv{.groups = 3}, {"f32[1, 9, 9]", "f32[8, 3, 5]"}), HasSubstr("groups"));
  EXPECT_THAT(rejection("conv1d", Conv{.groups = 0}, {"f32[1, 0, 9]", "f32[8, 0, 5]"}), HasSubstr("groups"));
  EXPECT_THAT(rejection("conv1d", Conv{.padding = {1}}, {"f32[1, 3, 2]", "f32[8, 3, 5]"}), HasSubstr("reaches over 5"));
  EXPECT_THAT(rejection("conv1d", Conv(), {"f32[1, 3, 9]", "f32[8, 3, kernel]"}), HasSubstr("in numbers"));
  EXPECT_THAT(rejection("conv1d", Conv(), {"f32[1, 3, 9]", "f32[8, 3, 5]", "f32[7]"}), HasSubstr("bias"));
  EXPECT_THAT(rejection("conv2d", Conv{.stride = {1, 1, 1}}, {"f32[1, 3, 9, 9]", "f32[8, 3, 5, 5]"}), HasSubstr("stride"));
  EXPECT_THAT(rejection("conv2d", Conv{.dilation = {0}}, {"f32[1, 3, 9, 9]", "f32[8, 3, 5, 5]"}), HasSubstr("dilation is 0"));
  EXPECT_THAT(rejection("conv2d", Conv{.padding = {int64_t{1} << 62}}, {"f32[1, 3, 9, 9]", "f32[8, 3, 5, 5]"}), HasSubstr("2^30"));
}

TEST(Conv, ReferencesHavePyTorchsValues) {
  const HostTensor x = counting({1, 2, 5}), weight = floats({1, 2, 3}, {1, 0, -1, 2, 1, 0});
  EXPECT_THAT(reference_floats("conv1d", Conv(), {x, weight, floats({1}, {0.5})}), ElementsAre(17.5, 20.5, 23.5));
  EXPECT_THAT(reference_floats("conv1d", Conv{.stride = {2}, .padding = {1}}, {x, weight}), ElementsAre(4, 20, 32));
  EXPECT_THAT(reference_floats("conv1d", Conv{.padding = {1}, .dilation = {2}}, {x, weight}), ElementsAre(3, 16, 25));
  const HostTensor image = counting({1, 2, 3, 3}), kernels = floats({2, 1, 2, 2}, {1, 2, 3, 4, 0, -1, 1, 0});
  EXPECT_THAT(reference_floats("conv2d", Conv{.groups = 2}, {image, kernels, floats({2}, {10, 20})}),
              ElementsAre(47, 57, 77, 87, 22, 22, 22, 22));
  EXPECT_THAT(reference_floats("conv2d", Conv{.stride = {2, 1}, .padding = {1, 0}, .groups = 2}, {image, kernels}),
              ElementsAre(11, 18, 67, 77, 10, 11, 2, 2));
}

TEST(Conv, EveryKernelMatchesTheReference) {
  const Check check{.relative = 1e-5, .absolute = 2e-4};
  const auto expect = [&](const char* op, const Conv& conv, const Sizes& x, const Sizes& weight) {
    const TestOperand w = constant(random_tensor(weight, DType::kF32, 2)), bias = constant(random_tensor({weight[0]}, DType::kF32, 3));
    expect_kernels_match_reference(op, conv, {random_tensor(x), w, bias}, check);
    expect_kernels_match_reference(op, conv, {random_tensor(x), w}, check);
    expect_kernels_match_reference(op, conv, {random_tensor(x), w.tensor, bias.tensor}, check);  // known only when it runs
  };
  for (int64_t outs : {1, 2, 3, 4, 5, 6, 7, 13, 101}) expect("conv1d", Conv{.padding = {1}}, {2, 3, 37}, {outs, 3, 3});
  for (int64_t length : {3, 16, 31, 33, 130}) expect("conv1d", Conv{.padding = {2}}, {1, 4, length}, {7, 4, 4});
  expect("conv2d", Conv(), {2, 5, 9, 11}, {8, 5, 1, 1});
  expect("conv2d", Conv{.padding = {1}}, {1, 67, 7, 9}, {13, 67, 3, 3});  // more than is packed at once
  expect("conv2d", Conv{.stride = {2}, .padding = {3}}, {1, 3, 23, 19}, {9, 3, 7, 7});
  expect("conv2d", Conv{.stride = {3, 2}, .padding = {4, 0}, .dilation = {2, 3}, .groups = 2}, {2, 4, 13, 17}, {6, 2, 3, 2});
  for (int64_t width : {1, 2, 16, 40, 141})
    expect("conv2d", Conv{.stride = {2, 1}, .padding = {1, 2}, .dilation = {1, 2}, .groups = 6}, {1, 6, 5, width}, {12, 1, 2, 3});
  expect("conv2d", Conv{.padding = {9}}, {1, 1, 2, 3}, {1, 1, 2, 2});  // windows in nothing but padding
  expect("conv1d", Conv(), {0, 3, 9}, {4, 3, 2});
  for (DType dtype : {DType::kF16, DType::kBF16})
    expect_kernels_match_reference("conv1d", Conv(),
                                   {random_tensor({1, 3, 9}), random_tensor({4, 3, 2}, dtype, 2), random_tensor({4}, dtype)}, check);
}

}  // namespace
}  // namespace headrace
