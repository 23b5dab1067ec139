#include "ops/quantize/quantize.h"

#include <limits>

#include "ops/test_support.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <typename T>
std::vector<int> quantized(const Quantize& attributes, const std::vector<TestOperand>& operands) {
  const HostTensor q = run_reference("quantize", attributes, operands)[0];
  return std::vector<int>(q.as<T>(), q.as<T>() + q.view().numel());
}

TEST(Quantize, TypesAndTheThreeKindsOfScale) {
  EXPECT_EQ(inferred("quantize", Quantize(), {"bf16[tokens, 8]", "f32[]"}), "i8[tokens, 8]");
  EXPECT_EQ(inferred("quantize", Quantize{.dtype = DType::kU8, .axis = 0}, {"f32[4, 8]", "f32[4]", "u8[4]"}), "u8[4, 8]");
  EXPECT_EQ(inferred("quantize", Quantize(), {"f32[tokens, 8]", "f32[tokens, 1]"}), "i8[tokens, 8]");
  EXPECT_EQ(inferred("dequantize", Dequantize{.dtype = DType::kBF16}, {"i32[tokens, 8]", "f32[8]"}), "bf16[tokens, 8]");
  EXPECT_THAT(rejection("quantize", Quantize{.axis = 0}, {"f32[4, 8]", "f32[8]"}), HasSubstr("each element along the axis"));
  EXPECT_THAT(rejection("quantize", Quantize(), {"f32[4, 8]", "f32[1, 2]"}), HasSubstr("each of x's size or 1"));
  EXPECT_THAT(rejection("quantize", Quantize{.dtype = DType::kI32}, {"f32[4]", "f32[]"}), HasSubstr("i8 or u8"));
  EXPECT_THAT(rejection("quantize", Quantize(), {"f32[4]", "f32[]", "i32[4]"}), HasSubstr("zero point"));
  EXPECT_THAT(rejection("quantize", Quantize(), {"i32[4]", "f32[]"}), HasSubstr("floats"));
  EXPECT_THAT(rejection("dequantize", Dequantize(), {"q8_0[32]", "f32[]"}), HasSubstr("cast"));
  EXPECT_THAT(rejection("dequantize", Dequantize{.dtype = DType::kI8}, {"i8[4]", "f32[]"}), HasSubstr("float type"));
}

TEST(Quantize, ReferencesHavePyTorchsValues) {
  const HostTensor x = floats({6}, {0.25, -0.25, 0.75, -1000, 1000, 1.3});
  EXPECT_THAT(quantized<uint8_t>({.dtype = DType::kU8}, {x, floats({}, {0.5}), integers({}, {3})}), ElementsAre(3, 3, 5, 0, 255, 6));
  EXPECT_THAT(quantized<int8_t>({}, {floats({2}, {-1000, 1000}), floats({}, {0.5})}), ElementsAre(-128, 127));
  const HostTensor rows = floats({2, 3}, {-2, -1, 0, 1, 2, 3});
  const std::vector<int> expected = {-4, -2, 0, 0, 1, 2};
  EXPECT_EQ(quantized<int8_t>({.axis = 0}, {rows, floats({2}, {0.5, 2})}), expected);
  EXPECT_EQ(quantized<int8_t>({}, {rows, floats({2, 1}, {0.5, 2})}), expected);
  EXPECT_THAT(
      reference_floats("dequantize", Dequantize{.axis = 0}, {integers({2, 3}, {-4, -2, 0, 0, 1, 2}, DType::kI8), floats({2}, {0.5, 2})}),
      ElementsAre(-2, -1, 0, 0, 2, 4));
  EXPECT_THAT(reference_floats("dequantize", Dequantize(),
                               {integers({6}, {3, 3, 5, 0, 255, 6}, DType::kU8), floats({1}, {0.5}), integers({1}, {3}, DType::kU8)}),
              ElementsAre(0, 0, 1, -1.5, 126, 1.5));
}

TEST(Quantize, NanAndInfinityAreTheEnds) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const HostTensor x = floats({3}, {nan, inf, -inf});
  EXPECT_THAT(quantized<int8_t>({}, {x, floats({}, {1})}), ElementsAre(-128, 127, -128));
  for (DType dtype : {DType::kI8, DType::kU8})
    for (float scale : {0.0f, 1.0f, nan}) expect_kernels_match_reference("quantize", Quantize{.dtype = dtype}, {x, floats({}, {scale})});
}

TEST(Quantize, EveryKernelMatchesTheReference) {
  const auto scales = [](const Sizes& sizes) { return run_reference("abs", {}, {random_tensor(sizes, DType::kF32, 3, 0.1f)})[0]; };
  for (int64_t n : {1, 16, 37, 1030})
    for (DType dtype : {DType::kI8, DType::kU8})
      for (const Sizes& sizes : {Sizes{}, Sizes{n}, Sizes{3, 1}, Sizes{3, n}}) {
        const HostTensor x = random_tensor({3, n}, DType::kF32, 1, 8), q = random_tensor({3, n}, dtype, 2, 100);
        const HostTensor scale = scales(sizes), zero_point = random_tensor(sizes, dtype, 4, 20);
        expect_kernels_match_reference("quantize", Quantize{.dtype = dtype}, {x, scale});
        expect_kernels_match_reference("quantize", Quantize{.dtype = dtype}, {x, scale, zero_point});
        expect_kernels_match_reference("dequantize", Dequantize(), {q, scale});
        expect_kernels_match_reference("dequantize", Dequantize(), {q, scale, zero_point});
      }
  expect_kernels_match_reference("quantize", Quantize{.axis = 1}, {random_tensor({2, 3, 5}, DType::kBF16), scales({3})});
  expect_kernels_match_reference("dequantize", Dequantize{.dtype = DType::kF16, .axis = -2},
                                 {random_tensor({2, 3, 5}, DType::kI32, 1, 9), scales({3})});
}

TEST(Quantize, DecompositionsMeanTheSame) {
  const HostTensor x = random_tensor({3, 5, 7}, DType::kF32, 1, 60), scale = floats({5}, {0.5, 0.25, 1, 2, 0.125});
  const HostTensor zero = integers({5}, {0, 3, -2, 1, 7}, DType::kI8), one = floats({}, {0.3f}), token = floats({3, 1, 1}, {0.5, 2, 1});
  for (const DType dtype : {DType::kI8, DType::kU8}) {
    expect_decomposition_matches("quantize", Quantize{.dtype = dtype, .axis = 1}, {x, scale, zero});
    expect_decomposition_matches("quantize", Quantize{.dtype = dtype}, {x, one});
    expect_decomposition_matches("quantize", Quantize{.dtype = dtype}, {x, token});
  }
  const HostTensor q = random_tensor({3, 5, 7}, DType::kI8, 1, 100);
  expect_decomposition_matches("dequantize", Dequantize{.axis = -2}, {q, scale, zero});
  expect_decomposition_matches("dequantize", Dequantize{}, {q, one});
  expect_decomposition_matches("dequantize", Dequantize{.dtype = DType::kBF16}, {q, token}, {.relative = 1e-2});
}

}  // namespace
}  // namespace headrace
