#include "ops/views/strides.h"

#include <gtest/gtest.h>

namespace headrace {
namespace {

std::string strides(const Sizes& sizes, const Sizes& strides, const Sizes& wanted) {
  const std::optional<Sizes> found = view_strides(sizes, strides, wanted);
  return found ? found->to_string() : "none";
}

TEST(ViewStrides, ContiguousTensorsTakeAnyShape) {
  EXPECT_EQ(strides({2, 6}, {6, 1}, {12}), "[1]");
  EXPECT_EQ(strides({2, 6}, {6, 1}, {3, 4}), "[4, 1]");
  EXPECT_EQ(strides({12}, {1}, {2, 1, 3, 2}), "[6, 6, 2, 1]");
  EXPECT_EQ(strides({}, {}, {1, 1}), "[1, 1]");
  EXPECT_EQ(strides({1, 1}, {9, 7}, {}), "[]");
}

TEST(ViewStrides, RowsWithGapsSplitButDoNotJoin) {
  EXPECT_EQ(strides({5, 6}, {10, 1}, {5, 2, 3}), "[10, 3, 1]");
  EXPECT_EQ(strides({5, 6}, {10, 1}, {30}), "none");
  EXPECT_EQ(strides({4, 6}, {10, 1}, {2, 2, 6}), "[20, 10, 1]");
  EXPECT_EQ(strides({4, 6}, {10, 1}, {3, 8}), "none");
  EXPECT_EQ(strides({4, 6}, {10, 1}, {2, 12}), "none");
}

TEST(ViewStrides, TransposedAxesJoinOnlyInTheirOwnOrder) {
  EXPECT_EQ(strides({3, 4}, {1, 3}, {12}), "none");
  EXPECT_EQ(strides({2, 3, 4}, {3, 1, 6}, {6, 4}), "[1, 6]");  // the first two lie within each other
  EXPECT_EQ(strides({2, 3, 4}, {3, 1, 6}, {6, 2, 2}), "[1, 12, 6]");
  EXPECT_EQ(strides({2, 3, 4}, {3, 1, 6}, {2, 12}), "none");
}

TEST(ViewStrides, AxesOfSizeOneAreNoObstacle) {
  EXPECT_EQ(strides({2, 1, 6}, {6, 77, 1}, {12}), "[1]");
  EXPECT_EQ(strides({1, 6}, {100, 2}, {2, 3}), "[6, 2]");
  EXPECT_EQ(strides({5, 6}, {10, 1}, {5, 1, 6}), "[10, 10, 1]");
}

TEST(ViewStrides, RepeatedElementsStayRepeated) {
  EXPECT_EQ(strides({4, 6}, {0, 1}, {2, 2, 6}), "[0, 0, 1]");
  EXPECT_EQ(strides({4, 6}, {0, 1}, {24}), "none");
}

TEST(ViewStrides, EmptyTensorsAreContiguous) {
  EXPECT_EQ(strides({0, 6}, {10, 1}, {3, 0}), "[0, 1]");
  EXPECT_EQ(strides({2, 3}, {3, 1}, {7}), "none");
}

// Against the definition: element number n is where it was.
TEST(ViewStrides, EveryAnswerShowsTheSameElements) {
  const Sizes wanted[] = {{24}, {4, 6}, {2, 12}, {2, 3, 4}, {3, 8}, {4, 3, 2}, {1, 24, 1}, {2, 2, 2, 3}};
  const auto address = [](const Sizes& sizes, const Sizes& strides, int64_t n) {
    int64_t at = 0;
    for (int i = sizes.rank() - 1; i >= 0; --i) at += n % sizes[i] * strides[i], n /= sizes[i];
    return at;
  };
  int answers = 0;
  for (const Sizes& sizes : {Sizes{2, 3, 4}, Sizes{4, 6}, Sizes{3, 2, 2, 2}})
    for (int64_t a : {1, 2, 4, 12, 0})
      for (int64_t b : {1, 3, 4, 6})
        for (int64_t c : {1, 2, 8}) {
          Sizes strides = sizes;
          const int64_t choice[] = {a, b, c, 1};
          for (int i = 0; i < sizes.rank(); ++i) strides[i] = choice[i];
          for (const Sizes& shape : wanted)
            if (const std::optional<Sizes> found = view_strides(sizes, strides, shape)) {
              ++answers;
              for (int64_t n = 0; n < 24; ++n)
                ASSERT_EQ(address(shape, *found, n), address(sizes, strides, n))
                    << sizes.to_string() << strides.to_string() << shape.to_string();
            }
        }
  EXPECT_GT(answers, 100);
}

}  // namespace
}  // namespace headrace
