#include "ops/matmul/matmul.h"

#include "ops/test_support.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Matmul, ShapesAreThoseOfPyTorch) {
  EXPECT_EQ(inferred("matmul", {}, {"f32[tokens, 8]", "f32[8, 5]"}), "f32[tokens, 5]");
  EXPECT_EQ(inferred("matmul", {}, {"f32[8]", "f32[8]"}), "f32[]");
  EXPECT_EQ(inferred("matmul", {}, {"f32[8]", "f32[2, 8, 5]"}), "f32[2, 5]");
  EXPECT_EQ(inferred("matmul", {}, {"f32[2, 3, 8]", "f32[8]"}), "f32[2, 3]");
  EXPECT_EQ(inferred("matmul", {}, {"bf16[2, 1, 3, 8]", "bf16[7, 8, 5]"}), "bf16[2, 7, 3, 5]");
}

TEST(Matmul, RefusesWhatDoesNotMultiply) {
  EXPECT_THAT(rejection("matmul", {}, {"f32[3, 8]", "f32[7, 5]"}), HasSubstr("8, is wanted equal"));
  EXPECT_THAT(rejection("matmul", {}, {"f32[2, 3, 8]", "f32[3, 8, 5]"}), HasSubstr("do not broadcast"));
  EXPECT_THAT(rejection("matmul", {}, {"f32[3, 8]", "f16[8, 5]"}), HasSubstr("cast"));
  EXPECT_THAT(rejection("matmul", {}, {"f32[]", "f32[8, 5]"}), HasSubstr("at least one axis"));
}

TEST(Matmul, ReferenceMultipliesRowsByColumns) {
  const HostTensor a = floats({2, 2}, {1, 2, 3, 4}), b = floats({2, 3}, {1, 0, 2, 0, 1, -1});
  EXPECT_THAT(reference_floats("matmul", {}, {a, b}), ElementsAre(1, 2, 0, 3, 4, 2));
  EXPECT_THAT(reference_floats("matmul", {}, {floats({2}, {1, 2}), b}), ElementsAre(1, 2, 0));
  EXPECT_THAT(reference_floats("matmul", {}, {a, floats({2}, {1, 2})}), ElementsAre(5, 11));
  EXPECT_THAT(reference_floats("matmul", {}, {floats({2, 1, 2}, {1, 0, 0, 1}), a}), ElementsAre(1, 2, 3, 4));
}

TEST(Matmul, EveryKernelMatchesTheReference) {
  const auto expect = [](const Sizes& a, const Sizes& b) {
    expect_kernels_match_reference("matmul", {}, {random_tensor(a), random_tensor(b, DType::kF32, 2)},
                                   {.relative = 1e-5, .absolute = 5e-5});
  };
  for (int64_t m : {1, 2, 5, 8, 101}) expect({m, 17}, {17, 37});
  for (int64_t n : {1, 8, 16, 31, 32, 65}) expect({7, 9}, {9, n});
  for (int64_t k : {0, 1, 256, 257, 600}) expect({3, k}, {k, 33});
  expect({4, 1, 5, 6}, {3, 6, 7});
  expect({6}, {3, 6, 7});
  expect({3, 5, 6}, {6});
  expect({6}, {6});
  expect({0, 6}, {6, 3});
}

}  // namespace
}  // namespace headrace
