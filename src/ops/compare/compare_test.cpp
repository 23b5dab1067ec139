#include "ops/compare/compare.h"

#include <limits>

#include "ops/test_support.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<bool> compared(std::string_view op, const HostTensor& x, const HostTensor& y) {
  const HostTensor z = run_reference(op, {}, {x, y})[0];
  return std::vector<bool>(z.as<bool>(), z.as<bool>() + z.view().numel());
}

TEST(Compare, GivesBoolOfTheBroadcastShape) {
  EXPECT_EQ(inferred("eq", {}, {"f32[tokens, 1]", "i64[8]"}), "bool[tokens, 8]");
  EXPECT_EQ(inferred("logical_and", {}, {"bool[tokens]", "f16[]"}), "bool[tokens]");
  EXPECT_THAT(rejection("lt", {}, {"f32[tokens, 8]", "f32[7]"}), HasSubstr("sizes 8 and 7 do not broadcast"));
  EXPECT_THAT(rejection("ge", {}, {"q8_0[32]", "q8_0[32]"}), HasSubstr("cast them to floats"));
}

TEST(Compare, ReferencesCompare) {
  const HostTensor x = floats({4}, {1, 2, 3, 0}), y = floats({}, {2});
  EXPECT_THAT(compared("eq", x, y), ElementsAre(false, true, false, false));
  EXPECT_THAT(compared("ne", x, y), ElementsAre(true, false, true, true));
  EXPECT_THAT(compared("lt", x, y), ElementsAre(true, false, false, true));
  EXPECT_THAT(compared("le", x, y), ElementsAre(true, true, false, true));
  EXPECT_THAT(compared("gt", x, y), ElementsAre(false, false, true, false));
  EXPECT_THAT(compared("ge", x, y), ElementsAre(false, true, true, false));
  const HostTensor a = floats({4}, {0, 0, -2, 0.5}), b = integers({4}, {0, 7, 0, 1});
  EXPECT_THAT(compared("logical_and", a, b), ElementsAre(false, false, false, true));
  EXPECT_THAT(compared("logical_or", a, b), ElementsAre(false, true, true, true));
  EXPECT_THAT(compared("logical_xor", a, b), ElementsAre(false, true, true, false));
}

TEST(Compare, NanIsEqualToNothingAndTrue) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const HostTensor x = floats({3}, {nan, nan, 1}), y = floats({3}, {nan, 1, nan});
  for (const char* op : {"eq", "lt", "le", "gt", "ge"}) EXPECT_THAT(compared(op, x, y), ElementsAre(false, false, false)) << op;
  for (const char* op : {"ne", "logical_and", "logical_or"}) EXPECT_THAT(compared(op, x, y), ElementsAre(true, true, true)) << op;
  for (std::string_view op : kComparisonNames) expect_kernels_match_reference(op, {}, {x, y});
}

TEST(Compare, IntegersStayExactAndSixteenBitsRoundThem) {
  const int64_t large = (int64_t{1} << 60) + 1;
  EXPECT_THAT(compared("eq", integers({1}, {large}, DType::kI64), integers({1}, {large - 1}, DType::kI64)), ElementsAre(false));
  EXPECT_THAT(compared("eq", integers({1}, {257}, DType::kI64), floats({1}, {256}, DType::kBF16)), ElementsAre(true));  // as PyTorch
}

TEST(Compare, EveryKernelMatchesTheReference) {
  for (std::string_view op : kComparisonNames)
    for (DType dtype : {DType::kF32, DType::kI64, DType::kI32, DType::kBool}) {
      for (int64_t n : {1, 33, 2051})
        expect_kernels_match_reference(op, {}, {random_tensor({2, n}, dtype), random_tensor({2, n}, dtype, 2)});
      expect_kernels_match_reference(op, {}, {random_tensor({5, 1}, dtype), random_tensor({19}, dtype, 2)});
    }
}

}  // namespace
}  // namespace headrace
