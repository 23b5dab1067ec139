#include "ops/reduce/reduce.h"

#include <limits>

#include "ops/test_support.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Reduce, AxesGoAwayOrStayAsOne) {
  EXPECT_EQ(inferred("sum", Reduce{.axes = {-1}}, {"f32[tokens, 8]"}), "f32[tokens]");
  EXPECT_EQ(inferred("prod", Reduce{.axes = {0}}, {"i32[2, 8]"}), "i64[8]");
  EXPECT_EQ(inferred("mean", Reduce{.axes = {0, 2}, .keepdim = true}, {"f32[tokens, 8, 3]"}), "f32[1, 8, 1]");
  EXPECT_EQ(inferred("max", Reduce(), {"i32[tokens, 8]"}), "i32[]");
  EXPECT_EQ(inferred("sum", Reduce(), {"bool[8]"}), "i64[]");
  EXPECT_EQ(inferred("argmax", Reduce{.axes = {1}}, {"f32[tokens, 8]"}), "i64[tokens]");
  EXPECT_EQ(inferred("cumsum", CumSum(), {"i32[tokens]"}), "i64[tokens]");
}

TEST(Reduce, RefusesWhatHasNoMeaning) {
  EXPECT_THAT(rejection("sum", Reduce{.axes = {1, -1}}, {"f32[2, 8]"}), HasSubstr("named twice"));
  EXPECT_THAT(rejection("mean", Reduce(), {"i32[2]"}), HasSubstr("cast"));
  EXPECT_THAT(rejection("argmax", Reduce{.axes = {0, 1}}, {"f32[2, 8]"}), HasSubstr("one axis"));
  EXPECT_THAT(rejection("max", Reduce(), {"f32[2, 0]"}), HasSubstr("no elements"));
  EXPECT_THAT(rejection("sum", Reduce{.axes = {2}}, {"f32[2, 8]"}), HasSubstr("axis 2"));
}

TEST(Reduce, References) {
  const HostTensor x = floats({2, 3}, {1, 5, 3, 4, -2, 4});
  EXPECT_THAT(reference_floats("sum", Reduce{.axes = {0}}, {x}), ElementsAre(5, 3, 7));
  EXPECT_THAT(reference_floats("prod", Reduce{.axes = {0}}, {x}), ElementsAre(4, -10, 12));
  EXPECT_THAT(reference_floats("prod", Reduce{.axes = {1}}, {floats({2, 0}, {})}), ElementsAre(1, 1));
  EXPECT_THAT(reference_floats("mean", Reduce{.axes = {1}}, {x}), ElementsAre(3, 2));
  EXPECT_THAT(reference_floats("max", Reduce{.axes = {1}}, {x}), ElementsAre(5, 4));
  EXPECT_THAT(reference_floats("min", Reduce(), {x}), ElementsAre(-2));
  const HostTensor largest = run_reference("argmax", Reduce{.axes = {1}}, {x})[0];
  EXPECT_EQ(largest.as<int64_t>()[0], 1);
  EXPECT_EQ(largest.as<int64_t>()[1], 0);  // the first of equals
  EXPECT_EQ(run_reference("argmax", Reduce(), {x})[0].as<int64_t>()[0], 1);
  EXPECT_THAT(reference_floats("cumsum", CumSum{.axis = 0}, {x}), ElementsAre(1, 5, 3, 5, 3, 7));
  EXPECT_THAT(reference_floats("cumsum", CumSum{.axis = 1}, {x}), ElementsAre(1, 6, 9, 4, 2, 6));
}

TEST(Reduce, EveryKernelMatchesTheReference) {
  for (std::string_view op : kReductionNames) {
    for (int64_t n : {1, 7, 64, 1001})
      expect_kernels_match_reference(op, Reduce{.axes = {-1}}, {random_tensor({2, 5, n})}, {.relative = 1e-5, .absolute = 1e-4});
    expect_kernels_match_reference(op, Reduce(), {random_tensor({19})});
    expect_kernels_match_reference(op, Reduce{.axes = {0}}, {random_tensor({4, 3})}, {.least_kernels = 0});  // the reference alone
  }
}

TEST(Reduce, SumsOfIntegersWrapAround) {
  const int64_t most = std::numeric_limits<int64_t>::max(), least = std::numeric_limits<int64_t>::min();
  const HostTensor x = integers({2}, {most, 1}, DType::kI64), last = run_reference("sum", Reduce(), {x})[0],
                   both = run_reference("cumsum", CumSum(), {x})[0];
  EXPECT_EQ(last.as<int64_t>()[0], least);
  EXPECT_EQ(both.as<int64_t>()[1], least);
}

TEST(Reduce, NanIsTheLargestAndTheSmallest) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const HostTensor x = floats({3, 3}, {1, nan, 2, nan, 1, nan, 3, 2, 1});
  for (const char* op : {"max", "min", "argmax"}) expect_kernels_match_reference(op, Reduce{.axes = {1}}, {x});
  EXPECT_EQ(run_reference("argmax", Reduce{.axes = {1}}, {x})[0].as<int64_t>()[0], 1);
}

}  // namespace
}  // namespace headrace
