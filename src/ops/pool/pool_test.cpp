#include "ops/pool/pool.h"

#include <cmath>
#include <limits>

#include "ops/test_support.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

TEST(Pool, CountsPlacesAsPyTorchAlsoOverSymbols) {
  EXPECT_EQ(inferred("max_pool2d", MaxPool{.kernel_size = {3}, .stride = {2}, .padding = {1}}, {"f32[batch, 8, 112, 2*columns]"}),
            "f32[batch, 8, 56, columns]");
  EXPECT_EQ(inferred("avg_pool1d", AvgPool{.kernel_size = {2}, .stride = {2}}, {"bf16[8, 5]"}), "bf16[8, 2]");
  EXPECT_EQ(inferred("max_pool1d", MaxPool{.kernel_size = {2}, .dilation = {3}}, {"f32[batch, 8, length]"}), "f32[batch, 8, length-3]");
}

TEST(Pool, RefusesWhatDoesNotFitAndSaysWhy) {
  EXPECT_THAT(rejection("max_pool2d", MaxPool(), {"f32[8, 5]"}), HasSubstr("(channels, height, width)"));
  EXPECT_THAT(rejection("max_pool2d", MaxPool(), {"i32[1, 8, 5, 5]"}), HasSubstr("floats"));
  EXPECT_THAT(rejection("avg_pool1d", AvgPool{.kernel_size = {3}, .padding = {2}}, {"f32[1, 8, 5]"}), HasSubstr("half"));
  EXPECT_THAT(rejection("avg_pool1d", AvgPool{.kernel_size = {6}}, {"f32[1, 8, 5]"}), HasSubstr("reaches over 6"));
  EXPECT_THAT(rejection("max_pool1d", MaxPool{.kernel_size = {0}}, {"f32[1, 8, 5]"}), HasSubstr("kernel_size is 0"));
}

TEST(Pool, ReferencesHavePyTorchsValues) {
  const HostTensor x = floats({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}), negative = run_reference("neg", {}, {x})[0];
  EXPECT_THAT(reference_floats("max_pool2d", MaxPool{.kernel_size = {2}, .stride = {2}}, {x}), ElementsAre(5));
  EXPECT_THAT(reference_floats("max_pool2d", MaxPool{.kernel_size = {2}, .padding = {1}}, {negative}),
              ElementsAre(-1, -1, -2, -3, -1, -1, -2, -3, -4, -4, -5, -6, -7, -7, -8, -9));
  EXPECT_THAT(reference_floats("avg_pool2d", AvgPool{.kernel_size = {2}, .padding = {1}}, {x}),
              ElementsAre(0.25, 0.75, 1.25, 0.75, 1.25, 3, 4, 2.25, 2.75, 6, 7, 3.75, 1.75, 3.75, 4.25, 2.25));
  EXPECT_THAT(reference_floats("avg_pool2d", AvgPool{.kernel_size = {2}, .padding = {1}, .count_include_pad = false}, {x}),
              ElementsAre(1, 1.5, 2.5, 3, 2.5, 3, 4, 4.5, 5.5, 6, 7, 7.5, 7, 7.5, 8.5, 9));
  const HostTensor row = floats({1, 7}, {3, 1, 4, 1, 5, 9, 2});
  EXPECT_THAT(reference_floats("max_pool1d", MaxPool{.kernel_size = {2}, .dilation = {2}}, {row}), ElementsAre(4, 1, 5, 9, 5));
  EXPECT_THAT(reference_floats("avg_pool1d", AvgPool{.kernel_size = {3}, .stride = {2}}, {row}),
              Pointwise(FloatNear(1e-6f), std::vector<float>{2.666667f, 3.333333f, 5.333333f}));
}

TEST(Pool, EveryKernelMatchesTheReference) {
  for (int64_t stride : {1, 2, 3})
    for (int64_t width : {5, 16, 37}) {
      const HostTensor x = random_tensor({2, 3, 9, width});
      expect_kernels_match_reference("max_pool2d", MaxPool{.kernel_size = {3, 2}, .stride = {stride}, .padding = {1}, .dilation = {1, 2}},
                                     {x});
      for (bool counts : {true, false})
        expect_kernels_match_reference(
            "avg_pool2d", AvgPool{.kernel_size = {2, 4}, .stride = {stride}, .padding = {1, 2}, .count_include_pad = counts}, {x});
    }
  expect_kernels_match_reference("max_pool1d", MaxPool{.kernel_size = {5}, .stride = {2}}, {random_tensor({3, 67})});
  expect_kernels_match_reference("avg_pool1d", AvgPool{.kernel_size = {5}}, {random_tensor({0, 3, 67})});
}

TEST(Pool, NanIsTheLargest) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const HostTensor x = floats({1, 9}, {1, nan, 2, -inf, -inf, -inf, inf, nan, 0});
  for (int64_t stride : {1, 2}) expect_kernels_match_reference("max_pool1d", MaxPool{.kernel_size = {2}, .stride = {stride}}, {x});
  const std::vector<float> y = reference_floats("max_pool1d", MaxPool{.kernel_size = {2}}, {x});
  for (size_t i : {0, 1, 6, 7}) EXPECT_TRUE(std::isnan(y[i])) << i;
  EXPECT_EQ(y[3], -inf);
}

}  // namespace
}  // namespace headrace
