#include "core/blocks.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "core/dtype.h"
#include "core/testdata/block_samples.h"

namespace headrace {
namespace {

constexpr DType kRoundable[] = {DType::kQ8_0, DType::kQ4_0, DType::kQ4_1, DType::kQ5_0, DType::kQ5_1, DType::kIQ4_NL};

std::vector<float> round_trip(DType dtype, const std::vector<float>& values) {
  std::vector<uint8_t> stored(size_t(storage_bytes(dtype, int64_t(values.size()))));
  std::vector<float> back(values.size());
  from_float(dtype, values.data(), stored.data(), int64_t(values.size()));
  to_float(dtype, stored.data(), back.data(), int64_t(values.size()));
  return back;
}

TEST(Blocks, MeanWhatTheGgufPackageSays) {
  for (const testdata::BlockSample& sample : testdata::kBlockSamples) {
    std::vector<float> got(sample.values.size());
    ASSERT_EQ(int64_t(sample.bytes.size()), storage_bytes(sample.dtype, int64_t(got.size())));
    to_float(sample.dtype, sample.bytes.data(), got.data(), int64_t(got.size()));
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_EQ(std::bit_cast<uint32_t>(got[i]), sample.values[i]) << name(sample.dtype) << " element " << i;
  }
}

TEST(Blocks, RoundToTheNearestCode) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> values(4096);
  for (float& v : values) v = normal(random);
  for (DType dtype : kRoundable) {
    const std::vector<float> back = round_trip(dtype, values);
    // Half a step: the range of a block of 32 normal values is within 8; iq4_nl's widest step is 24 of 240.
    const double steps = dtype == DType::kQ8_0                            ? 254
                         : dtype == DType::kQ5_0 || dtype == DType::kQ5_1 ? 31
                         : dtype == DType::kIQ4_NL                        ? 10
                                                                          : 15;
    double squares = 0;
    for (size_t i = 0; i < values.size(); ++i) squares += (back[i] - values[i]) * (back[i] - values[i]);
    EXPECT_LT(std::sqrt(squares / double(values.size())), 0.6 * 5 / steps / std::sqrt(3.0)) << name(dtype);
  }
}

TEST(Blocks, ValuesThatACodeHitsExactlySurvive) {
  for (DType dtype : kRoundable) {
    std::vector<float> values(32, 0.0f);
    values[3] = -2.0f;
    const std::vector<float> back = round_trip(dtype, values);
    EXPECT_NEAR(back[3], -2.0f, 2e-3f) << name(dtype);
    EXPECT_EQ(round_trip(dtype, std::vector<float>(32, 0.0f)), std::vector<float>(32, 0.0f)) << name(dtype);
  }
}

TEST(Blocks, NanAndInfinityAreStoredAsSomethingWithoutTrouble) {
  for (DType dtype : kRoundable) {
    std::vector<float> values(32, 1.0f);
    values[0] = NAN;
    values[1] = INFINITY;
    round_trip(dtype, values);  // under the sanitizers: no undefined conversion
  }
}

TEST(Blocks, PlainTypesRoundAndSaturate) {
  const std::vector<float> values = {0.5f, 1.5f, -1.5f, 300.0f, -300.0f, NAN, 1e30f};
  EXPECT_EQ(round_trip(DType::kI8, values), (std::vector<float>{0, 2, -2, 127, -128, -128, 127}));
  EXPECT_EQ(round_trip(DType::kU8, values), (std::vector<float>{0, 2, 0, 255, 0, 0, 255}));
  EXPECT_EQ(round_trip(DType::kI32, {1e30f, -7.0f}), (std::vector<float>{2147483648.0f, -7.0f}));
  EXPECT_EQ(round_trip(DType::kI64, {0x1p40f, -1e30f}), (std::vector<float>{0x1p40f, -0x1p63f}));
  EXPECT_EQ(round_trip(DType::kBool, {0.0f, 0.25f}), (std::vector<float>{0, 1}));
  EXPECT_EQ(round_trip(DType::kF16, {1.0f + 0x1p-11f, 0x1p-24f}), (std::vector<float>{1.0f, 0x1p-24f}));
  EXPECT_EQ(round_trip(DType::kBF16, {1.0f + 0x1p-8f}), (std::vector<float>{1.0f}));
}

TEST(Blocks, PartialBlocksAndKTypesAreRefused) {
  std::vector<float> values(256);
  std::vector<uint8_t> bytes(512);
  EXPECT_THROW(to_float(DType::kQ4_0, bytes.data(), values.data(), 31), Error);
  EXPECT_THROW(from_float(DType::kQ4_0, values.data(), bytes.data(), 33), Error);
  EXPECT_THROW(from_float(DType::kQ4_K, values.data(), bytes.data(), 256), Error);
}

}  // namespace
}  // namespace headrace
