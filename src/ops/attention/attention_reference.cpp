#include "ops/attention/attention_reference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace headrace {

VisibleKeys visible_keys(const Attention& a, int64_t position, int64_t length) {
  const int64_t end = a.causal ? position + 1 : length;
  return {a.window > 0 ? std::max<int64_t>(0, end - a.window) : 0, end};
}

void attend(const Attention& a, VisibleKeys visible, const float* q, const VectorAt& key, const VectorAt& value, float* y) {
  std::vector<double> scores;
  double largest = -std::numeric_limits<double>::infinity(), total = 0;
  for (int64_t j = visible.begin; j < visible.end; ++j) {
    double score = 0;
    for (int i = 0; i < a.head_dim; ++i) score += double(q[i]) * key(j)[i];
    score *= a.score_scale();
    if (a.softcap > 0) score = a.softcap * std::tanh(score / a.softcap);
    largest = std::max(largest, score);
    scores.push_back(score);
  }
  for (double& score : scores) total += score = std::exp(score - largest);
  for (int i = 0; i < a.head_dim; ++i) {
    double sum = 0;
    for (int64_t j = visible.begin; j < visible.end; ++j) sum += scores[size_t(j - visible.begin)] / total * value(j)[i];
    y[i] = float(sum);
  }
}

}  // namespace headrace
