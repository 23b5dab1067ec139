#include "runtime/draw.h"

#include <algorithm>
#include <bit>

namespace headrace::runtime {
namespace {

// Weights in (0, 1] by size, greatest first: 32 bins per factor of two, down to 2^-32; the last takes all that is smaller.
constexpr int kBins = 1024, kBinShift = 18;
constexpr uint32_t kOne = 0x3f800000;  // the bits of 1.0f; those of smaller positive floats are smaller
int bin_of(float weight) { return int(std::min<uint32_t>((kOne - std::bit_cast<uint32_t>(weight)) >> kBinShift, kBins - 1)); }

}  // namespace

int32_t Drawer::draw(std::span<const float> row, float max, const DrawOptions& options, double uniform) {
  const bool all = options.top_k == 0 || options.top_k >= int(row.size());
  if (all && options.top_p >= 1) return draw_from_all(row, max, options, uniform);
  if (all) keep_top_p(row, max, options);
  else keep_top_k(row, max, options);
  std::erase_if(candidates_, [&](const Candidate& c) { return c.weight < options.min_p; });  // the greatest weight is 1
  return draw_candidate(uniform);
}

int32_t Drawer::draw_from_all(std::span<const float> row, float max, const DrawOptions& options, double uniform) {
  weights_.resize(row.size());
  double left = uniform * exp_row(row, max, 1 / options.temperature, options.min_p, weights_, chunk_sums_);
  size_t chunk = 0;
  for (; chunk + 1 < chunk_sums_.size() && left >= chunk_sums_[chunk]; ++chunk) left -= chunk_sums_[chunk];
  int32_t last = -1;
  for (size_t i = chunk * kChunk; i < row.size(); ++i) {  // past its chunk only by rounding
    if (weights_[i] == 0) continue;
    last = int32_t(i);
    if ((left -= weights_[i]) < 0) return last;
  }
  while (last < 0 || weights_[last] == 0) last = last <= 0 ? int32_t(row.size()) - 1 : last - 1;  // rounding at the very end
  return last;
}

void Drawer::keep_top_k(std::span<const float> row, float max, const DrawOptions& options) {
  select_top(row, options.top_k, top_);
  const TopLogit least = top_.back();  // its equals are as good as it, and stay, as with Hugging Face
  for (size_t i = size_t(least.token) + 1; i < row.size(); ++i)
    if (row[i] == least.logit) top_.push_back({int32_t(i), least.logit});
  weights_.resize(top_.size());
  std::vector<float> logits(top_.size());
  std::ranges::transform(top_, logits.begin(), &TopLogit::logit);
  const double target = options.top_p * exp_row(logits, max, 1 / options.temperature, 0, weights_, chunk_sums_);
  candidates_.clear();
  double before = 0;
  for (size_t i = 0; i < top_.size() && weights_[i] > 0 && (before < target || i == 0); ++i) {
    candidates_.push_back({top_[i].token, weights_[i]});
    before += weights_[i];
  }
}

// Without sorting the vocabulary: the bin in which the mass is reached is found first, and only what is in it is sorted.
void Drawer::keep_top_p(std::span<const float> row, float max, const DrawOptions& options) {
  weights_.resize(row.size());
  const double target = options.top_p * exp_row(row, max, 1 / options.temperature, 0, weights_, chunk_sums_);
  bins_.assign(kBins, 0);
  for (float weight : weights_) bins_[bin_of(weight)] += weight;
  int border = 0;
  double before = 0;
  while (border + 1 < kBins && before + bins_[border] < target) before += bins_[border++];
  const float least = border == kBins - 1 ? 0 : std::bit_cast<float>(kOne - ((uint32_t(border) + 1) << kBinShift));

  candidates_.clear();
  std::vector<Candidate> at_border;
  for (size_t i = 0; i < weights_.size(); ++i) {
    if (weights_[i] <= least) continue;
    (bin_of(weights_[i]) < border ? candidates_ : at_border).push_back({int32_t(i), weights_[i]});
  }
  std::ranges::sort(at_border,
                    [](const Candidate& a, const Candidate& b) { return a.weight != b.weight ? a.weight > b.weight : a.token < b.token; });
  for (const Candidate& c : at_border) {
    if (before >= target && !candidates_.empty()) break;
    candidates_.push_back(c);
    before += c.weight;
  }
}

int32_t Drawer::draw_candidate(double uniform) const {
  double total = 0;
  for (const Candidate& c : candidates_) total += c.weight;
  double left = uniform * total;
  for (const Candidate& c : candidates_)
    if ((left -= c.weight) < 0) return c.token;
  return candidates_.back().token;
}

}  // namespace headrace::runtime
