#include "ops/topk/topk.h"

#include <cmath>
#include <limits>

#include "ops/test_support.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<int64_t> indices_of(const TopK& top, const HostTensor& x) {
  const HostTensor indices = run_reference("topk", top, {x})[1];
  return {indices.as<int64_t>(), indices.as<int64_t>() + indices.view().numel()};
}

TEST(TopK, GivesValuesAndIndices) {
  EXPECT_EQ(inferred("topk", TopK{.k = 8}, {"bf16[tokens, 64]"}), "bf16[tokens, 8], i64[tokens, 8]");
  EXPECT_EQ(inferred("topk", TopK{.k = 3, .axis = 0}, {"i32[tokens, 64]"}), "i32[3, 64], i64[3, 64]");
  EXPECT_THAT(rejection("topk", TopK{.k = 65}, {"f32[tokens, 64]"}), HasSubstr("the axis has 64"));
  EXPECT_THAT(rejection("topk", TopK{.k = -1}, {"f32[tokens, 64]"}), HasSubstr("0 or more"));
  EXPECT_THAT(rejection("topk", TopK{.axis = 2}, {"f32[tokens, 64]"}), HasSubstr("axis 2"));
  EXPECT_THAT(rejection("topk", TopK(), {"bool[64]"}), HasSubstr("cast"));
}

TEST(TopK, ReferencesHavePyTorchsValuesAndTakeTheFirstOfEquals) {
  const HostTensor x = floats({2, 4}, {1, 5, 3, 5, 2, NAN, 7, -1});
  const std::vector<float> two = reference_floats("topk", TopK{.k = 2}, {x});
  EXPECT_THAT(std::vector<float>(two.begin(), two.begin() + 2), ElementsAre(5, 5));
  EXPECT_TRUE(std::isnan(two[2]));
  EXPECT_EQ(two[3], 7);
  EXPECT_THAT(indices_of({.k = 2}, x), ElementsAre(1, 3, 1, 2));
  EXPECT_THAT(reference_floats("topk", TopK{.k = 3, .largest = false}, {x}), ElementsAre(1, 3, 5, -1, 2, 7));
  EXPECT_THAT(indices_of({.k = 3, .largest = false}, x), ElementsAre(0, 2, 1, 3, 0, 2));
  EXPECT_THAT(indices_of({.k = 1, .axis = 0}, integers({2, 3}, {1, 5, 2, 3, 4, 2})), ElementsAre(1, 0, 0));
}

TEST(TopK, EveryKernelMatchesTheReference) {
  const Check exact{.relative = 0, .absolute = 0};
  for (bool largest : {true, false})
    for (int64_t n : {1, 2, 8, 65, 1000})
      for (int64_t k : {int64_t{0}, int64_t{1}, n / 2, n}) {
        expect_kernels_match_reference("topk", TopK{.k = k, .largest = largest}, {random_tensor({3, 2, n})}, exact);
        HostTensor equals = random_tensor({2, n}, DType::kF32, 5, 3);
        for (int64_t i = 0; i < 2 * n; ++i) equals.as<float>()[i] = std::floor(equals.as<float>()[i]);
        expect_kernels_match_reference("topk", TopK{.k = k, .largest = largest}, {equals}, exact);
      }
}

TEST(TopK, NanIsLargerThanInfinity) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  for (bool largest : {true, false})
    for (int64_t k : {1, 3, 6})
      expect_kernels_match_reference("topk", TopK{.k = k, .largest = largest}, {floats({6}, {nan, 1, inf, nan, -inf, 0})});
}

}  // namespace
}  // namespace headrace
