#include "ops/binary/binary.h"

#include <cmath>
#include <limits>

#include "ops/test_support.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Binary, ShapesBroadcastAndTypesPromoteAsInPyTorch) {
  EXPECT_EQ(inferred("add", {}, {"f32[tokens, 8]", "f32[8]"}), "f32[tokens, 8]");
  EXPECT_EQ(inferred("mul", {}, {"f32[tokens, 1]", "f32[1, 8]"}), "f32[tokens, 8]");
  EXPECT_EQ(inferred("sub", {}, {"f16[3]", "f32[3]"}), "f32[3]");
  EXPECT_EQ(inferred("sub", {}, {"f16[3]", "f32[]"}), "f16[3]") << "without axes, only a higher kind counts";
  EXPECT_EQ(inferred("sub", {}, {"i32[]", "i32[1]"}), "i32[1]");
  EXPECT_EQ(inferred("sub", {}, {"f16[]", "i32[3]"}), "f16[3]");
  EXPECT_EQ(inferred("sub", {}, {"f16[]", "f32[]"}), "f32[]");
  EXPECT_EQ(inferred("add", {}, {"i64[3]", "bf16[3]"}), "bf16[3]");
  EXPECT_EQ(inferred("div", {}, {"i32[3]", "i32[3]"}), "f32[3]");
  EXPECT_EQ(inferred("maximum", {}, {"i32[3]", "i64[1]"}), "i64[3]");
}

TEST(Binary, RefusesWhatDoesNotFitAndSaysWhy) {
  EXPECT_THAT(rejection("add", {}, {"f32[tokens, 8]", "f32[7]"}), HasSubstr("sizes 8 and 7 do not broadcast"));
  EXPECT_THAT(rejection("mul", {}, {"f32[tokens]", "f32[sequences]"}), HasSubstr("tokens"));
  EXPECT_THAT(rejection("add", {}, {"q8_0[32]", "f32[32]"}), HasSubstr("dequantize"));
  EXPECT_THAT(rejection("add", {}, {"q8_0[32]", "q8_0[32]"}), HasSubstr("cast them to floats"));
}

TEST(Binary, ReferenceIsArithmetic) {
  const HostTensor x = floats({2, 2}, {1, -2, 3, 4}), y = floats({2}, {2, 0.5});
  EXPECT_THAT(reference_floats("add", {}, {x, y}), ElementsAre(3, -1.5, 5, 4.5));
  EXPECT_THAT(reference_floats("sub", {}, {x, y}), ElementsAre(-1, -2.5, 1, 3.5));
  EXPECT_THAT(reference_floats("mul", {}, {x, y}), ElementsAre(2, -1, 6, 2));
  EXPECT_THAT(reference_floats("div", {}, {x, y}), ElementsAre(0.5, -4, 1.5, 8));
  EXPECT_THAT(reference_floats("maximum", {}, {x, y}), ElementsAre(2, 0.5, 3, 4));
  EXPECT_THAT(reference_floats("minimum", {}, {x, y}), ElementsAre(1, -2, 2, 0.5));
  EXPECT_THAT(reference_floats("remainder", {}, {floats({4}, {5, -5, 5, -5}), floats({4}, {3, 3, -3, -3})}), ElementsAre(2, 1, -1, -2));
  EXPECT_THAT(reference_floats("pow", {}, {floats({2, 2}, {1, 2, 3, 4}), y}), ElementsAre(1, std::sqrt(2.0f), 9, 2));
}

TEST(Binary, IntegersStayExactAndWrapAround) {
  const int64_t large = (int64_t{1} << 60) + 1;
  const HostTensor x = integers({3}, {large, 7, std::numeric_limits<int64_t>::max()}, DType::kI64),
                   y = integers({3}, {1, -3, 1}, DType::kI64);
  const auto result = [&](const char* op) {
    const HostTensor z = run_reference(op, {}, {x, y})[0];
    return std::vector<int64_t>(z.as<int64_t>(), z.as<int64_t>() + 3);
  };
  EXPECT_THAT(result("add"), ElementsAre(large + 1, 4, std::numeric_limits<int64_t>::min()));
  EXPECT_THAT(result("mul"), ElementsAre(large, -21, std::numeric_limits<int64_t>::max()));
  EXPECT_THAT(result("pow"), ElementsAre(large, 0, std::numeric_limits<int64_t>::max()));
  EXPECT_THAT(result("remainder"), ElementsAre(0, -2, 0));
  EXPECT_THAT(result("minimum"), ElementsAre(1, -3, 1));
}

TEST(Binary, EveryKernelMatchesTheReference) {
  for (std::string_view op : kBinaryNames) {
    const Check check{.least_kernels = 1};
    for (int64_t n : {1, 7, 16, 33, 2051})
      expect_kernels_match_reference(op, {}, {random_tensor({3, n}), random_tensor({3, n}, DType::kF32, 2)}, check);
    expect_kernels_match_reference(op, {}, {random_tensor({5, 19}), random_tensor({19}, DType::kF32, 2)}, check);    // a row for all
    expect_kernels_match_reference(op, {}, {random_tensor({5, 1}), random_tensor({5, 19}, DType::kF32, 2)}, check);  // a column for all
    expect_kernels_match_reference(op, {}, {random_tensor({5, 19}), random_tensor({}, DType::kF32, 2)}, check);      // a scalar
    expect_kernels_match_reference(op, {}, {random_tensor({2, 1, 3, 5}), random_tensor({4, 1, 5}, DType::kF32, 2)}, check);
    expect_kernels_match_reference(op, {}, {random_tensor({0, 4}), random_tensor({4}, DType::kF32, 2)}, check);
  }
}

TEST(Binary, NanWinsInMaximumAndMinimum) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const HostTensor x = floats({9}, {nan, 1, nan, inf, -inf, inf, nan, nan, -inf}),
                   y = floats({9}, {1, nan, nan, -inf, inf, nan, inf, -inf, nan});
  for (const char* op : {"maximum", "minimum"}) expect_kernels_match_reference(op, {}, {x, y});
  const std::vector<float> largest = reference_floats("maximum", {}, {x, y});
  for (int i : {0, 1, 2, 5, 6, 7, 8}) EXPECT_TRUE(std::isnan(largest[size_t(i)])) << i;
  EXPECT_EQ(largest[3], inf);
  EXPECT_EQ(largest[4], inf);
}

}  // namespace
}  // namespace headrace
