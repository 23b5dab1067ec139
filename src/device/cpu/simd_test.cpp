#include "device/cpu/simd.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "device/cpu/for_isa.h"

#define HEADRACE_EACH_ISA_BODY "device/cpu/simd_probe.inl.h"
#include "device/cpu/each_isa.inl.h"

namespace headrace {
namespace {

struct Probe {
  CpuIsa isa;
  void (*map)(int, const float*, float*, int);
  void (*reduce)(const float*, float*);
  void (*transpose)(const float*, float*);
  int lanes;
};

std::vector<Probe> probes() {
  std::vector<Probe> all;
  for (CpuIsa isa : runnable_cpu_isas())
    all.push_back(for_isa(isa, Probe{isa, baseline::probe, baseline::reduce, baseline::transpose_square, baseline::F32::kLanes},
                          Probe{isa, avx2::probe, avx2::reduce, avx2::transpose_square, avx2::F32::kLanes},
                          Probe{isa, avx512vnni::probe, avx512vnni::reduce, avx512vnni::transpose_square, avx512vnni::F32::kLanes}));
  return all;
}

void expect_close(int which, double (*truth)(double), double relative, double absolute, float from, float to) {
  std::vector<float> x, y;
  for (int i = 0; i <= 100003; ++i) x.push_back(from + (to - from) * float(i) / 100003);
  y.resize(x.size());
  for (const Probe& probe : probes()) {
    probe.map(which, x.data(), y.data(), int(x.size()));
    for (size_t i = 0; i < x.size(); ++i) {
      const double t = truth(x[i]);
      ASSERT_NEAR(y[i], t, absolute + relative * std::fabs(t)) << name(probe.isa) << " at " << x[i];
    }
  }
}

TEST(Simd, ExpIsWithinTwoUlp) {
  expect_close(
      0, [](double x) { return std::exp(x); }, 2.4e-7, 0, -87.3f, 88.3f);
}
TEST(Simd, TanhKeepsRelativePrecisionNearZero) {
  expect_close(
      1, [](double x) { return std::tanh(x); }, 5e-7, 0, -1e-3f, 1e-3f);
  expect_close(
      1, [](double x) { return std::tanh(x); }, 5e-7, 0, -12, 12);
}
TEST(Simd, ErfIsWithinFewTenMillionths) {
  expect_close(
      2, [](double x) { return std::erf(x); }, 0, 6e-7, -6, 6);
}
TEST(Simd, SiluHoldsFarOut) {
  expect_close(
      3, [](double x) { return x / (1 + std::exp(-x)); }, 6e-7, 1e-34, -87, 100);
}

TEST(Simd, ExpOfExtremes) {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> x = {-inf, -1000, 0, std::numeric_limits<float>::quiet_NaN(), inf, 100, 88.73f};
  for (const Probe& probe : probes()) {
    std::vector<float> y(x.size());
    probe.map(0, x.data(), y.data(), int(x.size()));
    for (const int i : {4, 5, 6}) EXPECT_EQ(y[size_t(i)], inf) << name(probe.isa);
    EXPECT_EQ(y[0], 0) << name(probe.isa);
    EXPECT_EQ(y[1], 0) << name(probe.isa);
    EXPECT_EQ(y[2], 1) << name(probe.isa);
    EXPECT_TRUE(std::isnan(y[3])) << name(probe.isa);
  }
}

TEST(Simd, SixteenBitFloatsRoundAsTheScalarCodeDoes) {
  std::vector<float> x;
  for (uint32_t i = 0; i < 200000; ++i) x.push_back(std::bit_cast<float>(i * 21473u));
  for (const Probe& probe : probes()) {
    std::vector<float> y(x.size());
    probe.map(4, x.data(), y.data(), int(x.size()));
    for (size_t i = 0; i < x.size(); ++i) {
      const float t = float(BFloat16(x[i]));
      ASSERT_TRUE(y[i] == t || (std::isnan(t) && std::isnan(y[i]))) << name(probe.isa) << " bf16 of " << x[i];
    }
    probe.map(5, x.data(), y.data(), int(x.size()));
    for (size_t i = 0; i < x.size(); ++i) {
      const float t = float(Half(x[i]));
      ASSERT_TRUE(y[i] == t || (std::isnan(t) && std::isnan(y[i]))) << name(probe.isa) << " f16 of " << x[i];
    }
  }
}

TEST(Simd, PartialStoresLeaveTheRestAlone) {
  for (const Probe& probe : probes())
    for (int which : {0, 4, 5})
      for (int n = 0; n <= probe.lanes; ++n) {
        const std::vector<float> x(n, 0.0f);
        std::vector<float> y(n + 1, 7.0f);
        probe.map(which, x.data(), y.data(), n);
        EXPECT_EQ(y[n], 7.0f);
      }
}

TEST(Simd, ReductionsSeeEveryLane) {
  for (const Probe& probe : probes())
    for (int lane = 0; lane < probe.lanes; ++lane) {
      std::vector<float> x(16, 0.0f);
      x[lane] = 5;
      float y[2];
      probe.reduce(x.data(), y);
      EXPECT_EQ(y[0], 5);
      EXPECT_EQ(y[1], 5);
    }
}

TEST(Simd, TransposeTurnsRowsIntoColumns) {
  for (const Probe& probe : probes()) {
    const int n = probe.lanes;
    std::vector<float> x(n * n), y(n * n);
    for (int i = 0; i < n * n; ++i) x[i] = float(i);
    probe.transpose(x.data(), y.data());
    for (int i = 0; i < n * n; ++i) ASSERT_EQ(y[i], x[i % n * n + i / n]) << name(probe.isa);
  }
}

}  // namespace
}  // namespace headrace
