// What sampling asks of one row of logits, each in one or two passes over it. Sixteen lanes on every machine, so that sums, and
// with them sampled tokens, do not depend on the processor.
#pragma once

#include "headrace/types.h"

namespace headrace::runtime {

struct RowScan {
  float max;   // -infinity for an empty row
  bool valid;  // no NaN and no +infinity; max means nothing otherwise
};
RowScan scan_row(std::span<const float> row);

// Index of the first element equal to `value`, which is there.
int32_t first_equal(std::span<const float> row, float value);

// weights[i] = exp((row[i] - max) * scale), as 0 below `floor` or 1e-37. max must be finite, scale positive.
// chunk_sums[c] is the sum of weights [c * kChunk, (c + 1) * kChunk). Returns the sum of all. Error of a weight: 3e-7, relative.
inline constexpr int kChunk = 256;
double exp_row(std::span<const float> row, float max, float scale, float floor, std::span<float> weights, std::vector<double>& chunk_sums);

// log(sum(exp(row))), for finite max.
double log_sum_exp(std::span<const float> row, float max);

struct TopLogit {
  int32_t token;
  float logit;
};
// The k greatest, greatest first, lower ids first among equals. The row must be valid.
void select_top(std::span<const float> row, int k, std::vector<TopLogit>& top);

}  // namespace headrace::runtime
