#include "runtime/logit_row.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <utility>

namespace headrace::runtime {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<float> random_row(size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, 5);
  std::vector<float> row(size);
  for (float& x : row) x = normal(random);
  return row;
}

TEST(LogitRow, FindsTheMaximumAtEverySizeAndPlace) {
  for (size_t size : {1, 2, 15, 16, 17, 31, 33, 255, 256, 257, 1000}) {
    std::vector<float> row = random_row(size, 1);
    for (size_t place = 0; place < size; ++place) {
      const float before = std::exchange(row[place], 100.f);
      const RowScan scan = scan_row(row);
      EXPECT_TRUE(scan.valid);
      EXPECT_EQ(scan.max, 100.f);
      EXPECT_EQ(first_equal(row, scan.max), int(place));
      for (float bad : {kInfinity, std::nanf("")}) {
        row[place] = bad;
        EXPECT_FALSE(scan_row(row).valid) << size << " " << place;
      }
      row[place] = before;
    }
  }
}

TEST(LogitRow, MinusInfinityIsAllowed) {
  EXPECT_EQ(scan_row(std::vector<float>(20, -kInfinity)).max, -kInfinity);
  EXPECT_TRUE(scan_row(std::vector<float>(20, -kInfinity)).valid);
}

TEST(LogitRow, ExponentialsAreAccurateAndNeverAboveOne) {
  std::vector<float> row(40001), weights(row.size());
  for (size_t i = 0; i < row.size(); ++i) row[i] = 3 - float(i) * 84.f / 40000;
  row.push_back(-kInfinity);
  weights.push_back(1);
  std::vector<double> chunks;
  const double sum = exp_row(row, 3, 1, 0, weights, chunks);
  double exact = 0;
  for (size_t i = 0; i + 1 < row.size(); ++i) {
    const double wanted = std::exp(double(row[i] - 3.f));
    EXPECT_NEAR(weights[i] / wanted, 1, 4e-7) << row[i];
    EXPECT_LE(weights[i], 1.f);
    exact += wanted;
  }
  EXPECT_EQ(weights[0], 1.f);
  EXPECT_EQ(weights.back(), 0.f);
  EXPECT_NEAR(sum / exact, 1, 1e-6);
  EXPECT_NEAR(std::accumulate(chunks.begin(), chunks.end(), 0.), sum, 1e-9 * sum);
  EXPECT_NEAR(log_sum_exp(row, 3), 3 + std::log(exact), 1e-6);
}

TEST(LogitRow, WeightsBelowTheFloorAreZero) {
  const std::vector<float> row = {0, -1, -2, -3};
  std::vector<float> weights(4);
  std::vector<double> chunks;
  exp_row(row, 0, 1, 0.2f, weights, chunks);
  EXPECT_GT(weights[1], 0);
  EXPECT_EQ(weights[2], 0);
}

TEST(LogitRow, SelectsTheGreatestInOrder) {
  for (size_t size : {1, 7, 64, 65, 1000, 5000})
    for (int k : {1, 2, 7, 50, 200, 6000})
      for (bool ties : {false, true}) {
        std::vector<float> row = random_row(size, unsigned(size + k));
        if (ties)
          for (float& x : row) x = std::round(x);
        if (size > 5) row[3] = -kInfinity;
        std::vector<int32_t> order(size);
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return row[a] > row[b]; });
        order.resize(std::min<size_t>(k, size));
        std::vector<TopLogit> top;
        select_top(row, k, top);
        ASSERT_EQ(top.size(), order.size());
        for (size_t i = 0; i < top.size(); ++i) {
          ASSERT_EQ(top[i].token, order[i]) << size << " " << k;
          ASSERT_EQ(top[i].logit, row[order[i]]);
        }
      }
}

}  // namespace
}  // namespace headrace::runtime
