#include "ops/softmax/softmax.h"

#include <limits>

#include "ops/test_support.h"

namespace headrace {
namespace {

using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

TEST(Softmax, KeepsTheTypeAndChecksTheAxis) {
  EXPECT_EQ(inferred("softmax", Softmax{.axis = 0}, {"f16[tokens, 8]"}), "f16[tokens, 8]");
  EXPECT_THAT(rejection("softmax", Softmax{.axis = 2}, {"f32[tokens, 8]"}), HasSubstr("axis 2"));
  EXPECT_THAT(rejection("softmax", Softmax(), {"i32[8]"}), HasSubstr("floats"));
}

TEST(Softmax, ReferenceAlongEitherAxis) {
  const HostTensor x = floats({2, 3}, {1, 2, 3, 0, 0, 5});
  EXPECT_THAT(reference_floats("softmax", Softmax(), {x}),
              Pointwise(FloatNear(1e-6f), {0.09003057f, 0.24472847f, 0.66524096f, 0.00664835f, 0.00664835f, 0.98670329f}));
  EXPECT_THAT(reference_floats("softmax", Softmax{.axis = 0}, {x}),
              Pointwise(FloatNear(1e-6f), {0.73105858f, 0.88079708f, 0.11920292f, 0.26894142f, 0.11920292f, 0.88079708f}));
}

TEST(Softmax, LogarithmIsExactWhereTheSoftmaxIsNothing) {
  EXPECT_THAT(reference_floats("log_softmax", Softmax(), {floats({2, 3}, {1, 2, 3, 1000, 1000, -1000})}),
              Pointwise(FloatNear(1e-6f), {-2.407606f, -1.407606f, -0.407606f, -0.693147f, -0.693147f, -2000.693115f}));
}

TEST(Softmax, EveryKernelMatchesTheReference) {
  for (const char* op : {"softmax", "log_softmax"})
    for (int64_t n : {1, 3, 16, 47, 1025}) {
      expect_kernels_match_reference(op, Softmax(), {random_tensor({2, 5, n}, DType::kF32, 1, 20)});
      expect_kernels_match_reference(op, Softmax{.axis = 2}, {random_tensor({2, 5, n}, DType::kF32, 1, 20)});
    }
}

TEST(Softmax, MaskedElementsGetNothingAndAnEmptyRowIsNan) {
  const float inf = std::numeric_limits<float>::infinity();
  for (const char* op : {"softmax", "log_softmax"}) {
    expect_kernels_match_reference(op, Softmax(), {floats({2, 3}, {1, -inf, 2, -inf, -inf, -inf})});
    expect_kernels_match_reference(op, Softmax(), {floats({2, 17}, std::vector<float>(34, -inf))});
  }
}

TEST(Softmax, DecompositionMeansTheSame) {
  expect_decomposition_matches("softmax", Softmax{.axis = 0}, {random_tensor({0, 5})});
  for (const char* op : {"softmax", "log_softmax"})
    for (int64_t axis : {0, 1, -1}) expect_decomposition_matches(op, Softmax{.axis = axis}, {random_tensor({3, 5, 7})});
}

}  // namespace
}  // namespace headrace
