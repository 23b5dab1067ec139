// Draws one token from a row of logits: temperature, top-k, top-p and min-p, then one random number.
#pragma once

#include "runtime/logit_row.h"

namespace headrace::runtime {

struct DrawOptions {
  float temperature = 1;  // not too small: see kGreedyTemperature
  int top_k = 0;          // 0: all; the equals of the k-th stay too
  float top_p = 1;
  float min_p = 0;
};
inline constexpr float kGreedyTemperature = 1e-5f;  // below it, sampling is greedy

// Holds scratch memory: one per thread.
class Drawer {
 public:
  // The token at which the cumulative probability passes uniform, which is in [0, 1). `max` is the row's, and finite.
  int32_t draw(std::span<const float> row, float max, const DrawOptions& options, double uniform);

 private:
  struct Candidate {
    int32_t token;
    float weight;  // its probability, up to a factor
  };
  int32_t draw_from_all(std::span<const float> row, float max, const DrawOptions& options, double uniform);
  void keep_top_k(std::span<const float> row, float max, const DrawOptions& options);
  void keep_top_p(std::span<const float> row, float max, const DrawOptions& options);
  int32_t draw_candidate(double uniform) const;

  std::vector<Candidate> candidates_;
  std::vector<TopLogit> top_;
  std::vector<float> weights_;
  std::vector<double> chunk_sums_, bins_;
};

}  // namespace headrace::runtime
