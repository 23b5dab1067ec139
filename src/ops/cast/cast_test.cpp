#include "ops/cast/cast.h"

#include "core/blocks.h"
#include "ops/test_support.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr DType kBlockTypes[] = {DType::kQ8_0, DType::kQ4_0, DType::kQ4_1, DType::kQ5_0, DType::kQ5_1,  DType::kQ2_K,
                                 DType::kQ3_K, DType::kQ4_K, DType::kQ5_K, DType::kQ6_K, DType::kIQ4_NL};

TEST(Cast, KeepsTheShape) {
  EXPECT_EQ(inferred("cast", Cast{DType::kBF16}, {"f32[tokens, 8]"}), "bf16[tokens, 8]");
  EXPECT_EQ(inferred("cast", Cast{DType::kF32}, {"q4_k[4, 256]"}), "f32[4, 256]");
  EXPECT_THAT(rejection("cast", Cast{DType::kQ8_0}, {"f32[32]"}), HasSubstr("quantization"));
}

TEST(Cast, FloatsToIntegersDropTheFraction) {
  const HostTensor y = run_reference("cast", Cast{DType::kI32}, {floats({4}, {-1.9f, -0.5f, 1.9f, 2.5f})})[0];
  EXPECT_THAT(std::vector<int32_t>(y.as<int32_t>(), y.as<int32_t>() + 4), ElementsAre(-1, 0, 1, 2));
}

TEST(Cast, IntegersToIntegersWrapAroundAndBoolIsNotZero) {
  const HostTensor x = integers({3}, {300, 0, -1}, DType::kI64);
  const HostTensor y = run_reference("cast", Cast{DType::kU8}, {x})[0];
  EXPECT_THAT(std::vector<int>(y.as<uint8_t>(), y.as<uint8_t>() + 3), ElementsAre(44, 0, 255));
  const HostTensor b = run_reference("cast", Cast{DType::kBool}, {x})[0];
  EXPECT_THAT(std::vector<bool>(b.as<bool>(), b.as<bool>() + 3), ElementsAre(true, false, true));
}

TEST(Cast, SixteenBitFloatsRoundToNearestEven) {
  EXPECT_THAT(reference_floats("cast", Cast{DType::kBF16}, {floats({3}, {1 + 0x1p-8f, 1 + 0x3p-8f, 0.1f})}),
              ElementsAre(1, 1 + 0x1p-6f, 0.10009765625f));
}

TEST(Cast, EveryKernelMatchesTheReference) {
  for (DType from : {DType::kF32, DType::kF16, DType::kBF16, DType::kI32, DType::kBool})
    for (DType to : {DType::kF32, DType::kF16, DType::kBF16})
      expect_kernels_match_reference("cast", Cast{to}, {random_tensor({3, 1029}, from)}, {.relative = 0, .absolute = 0});
  for (DType from : kBlockTypes)
    expect_kernels_match_reference("cast", Cast{DType::kF32}, {random_tensor({3, 1280}, from)}, {.relative = 0, .absolute = 0});
}

}  // namespace
}  // namespace headrace
