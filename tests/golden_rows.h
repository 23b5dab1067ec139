// Comparing rows of logits or hidden states with those that Hugging Face's implementation gave.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "weights/safetensors.h"

namespace headrace {

// Each value to within 1e-4 of the row's largest.
inline void expect_row_close(const float* got, const float* want, int64_t width) {
  float largest = 0;
  for (int64_t i = 0; i < width; ++i) largest = std::max(largest, std::abs(want[i]));
  for (int64_t i = 0; i < width; ++i) ASSERT_NEAR(got[i], want[i], 1e-4f * largest) << "value " << i;
}

// As many rows of `got` as `want` has, from `first_row` on.
inline void expect_rows_close(const Tensor& got, const SafetensorsTensor& want, int64_t first_row = 0) {
  const int64_t width = want.sizes[-1], rows = want.sizes.numel() / width;
  ASSERT_EQ(got.sizes[-1], width);
  ASSERT_GE(got.num_rows(), first_row + rows);
  for (int64_t r = 0; r < rows; ++r) {
    SCOPED_TRACE("row " + std::to_string(r));
    expect_row_close(got.row<float>(first_row + r), reinterpret_cast<const float*>(want.data.data()) + r * width, width);
    if (testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace headrace
