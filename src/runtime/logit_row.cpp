#include "runtime/logit_row.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

// The compiler makes a version per instruction set and the loader picks one, whatever HEADRACE_CPU_ISA says: all give the same bits.
// Sanitizers do not go with that.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define HEADRACE_PER_CPU __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define HEADRACE_PER_CPU
#endif
#pragma GCC diagnostic ignored "-Wpsabi"  // wide vectors do not cross calls here: everything is inlined

namespace headrace::runtime {
namespace {

constexpr int kLanes = 16;
constexpr int kTopBlock = 64;
constexpr float kLowest = -std::numeric_limits<float>::infinity();
constexpr float kGreatest = std::numeric_limits<float>::max();
using Floats = float __attribute__((vector_size(kLanes * 4)));
using Ints = int32_t __attribute__((vector_size(kLanes * 4)));

#define HEADRACE_INLINE [[gnu::always_inline]] inline

HEADRACE_INLINE Floats load(const float* x) {
  Floats v;
  std::memcpy(&v, x, sizeof v);
  return v;
}
// The last elements of a row, filled up with -infinity.
HEADRACE_INLINE Floats load_tail(const float* x, size_t count) {
  Floats v = Floats{} + kLowest;
  std::memcpy(&v, x, count * sizeof(float));
  return v;
}
HEADRACE_INLINE Floats greater(Floats a, Floats b) { return a > b ? a : b; }
HEADRACE_INLINE float max_lane(Floats v) {
  float m = v[0];
  for (int i = 1; i < kLanes; ++i) m = v[i] > m ? v[i] : m;
  return m;
}

// exp(x) for x <= 0; 0 below -85. 2^n times a Taylor polynomial on [-ln 2 / 2, ln 2 / 2].
HEADRACE_INLINE Floats exp_lanes(Floats x) {
  constexpr float kRound = 12582912.f;  // 1.5 * 2^23: adding it rounds to an integer, which the low bits then hold
  const Ints in_range = x > -85.f;
  x = in_range ? x : Floats{};
  const Floats shifted = x * 1.44269504f + kRound;
  const Floats n = shifted - kRound;
  const Floats r = (x - n * 0.693359375f) + n * 2.12194440e-4f;  // ln 2 in two parts
  Floats p = r * (1.f / 5040) + 1.f / 720;
  p = p * r + 1.f / 120;
  p = p * r + 1.f / 24;
  p = p * r + 1.f / 6;
  p = p * r + 0.5f;
  p = p * r + 1.f;
  p = p * r + 1.f;
  Ints exponent;
  std::memcpy(&exponent, &shifted, sizeof exponent);
  exponent = (exponent - 0x4b400000 + 127) << 23;
  Floats power;
  std::memcpy(&power, &exponent, sizeof power);
  return in_range ? p * power : Floats{};
}

HEADRACE_INLINE double sum_lanes(Floats v) {
  double sum = 0;
  for (int i = 0; i < kLanes; ++i) sum += v[i];
  return sum;
}

}  // namespace

HEADRACE_PER_CPU RowScan scan_row(std::span<const float> row) {
  Floats max = Floats{} + kLowest;
  Ints bad{};
  size_t i = 0;
  for (; i + kLanes <= row.size(); i += kLanes) {
    const Floats x = load(&row[i]);
    max = greater(x, max);
    bad |= ~(x <= kGreatest);  // NaN compares false
  }
  const Floats x = load_tail(row.data() + i, row.size() - i);
  max = greater(x, max);
  bad |= ~(x <= kGreatest);
  bool valid = true;
  for (int lane = 0; lane < kLanes; ++lane) valid = valid && bad[lane] == 0;
  return {max_lane(max), valid};
}

int32_t first_equal(std::span<const float> row, float value) { return int32_t(std::find(row.begin(), row.end(), value) - row.begin()); }

HEADRACE_PER_CPU double exp_row(std::span<const float> row, float max, float scale, float floor, std::span<float> weights,
                                std::vector<double>& chunk_sums) {
  chunk_sums.clear();
  double total = 0;
  for (size_t begin = 0; begin < row.size(); begin += kChunk) {
    const size_t end = std::min(begin + kChunk, row.size());
    Floats sum{};
    for (size_t i = begin; i < end; i += kLanes) {
      const size_t count = std::min<size_t>(kLanes, end - i);
      const Floats x = count == kLanes ? load(&row[i]) : load_tail(&row[i], count);
      Floats w = exp_lanes((x - max) * scale);
      w = w >= floor ? w : Floats{};
      std::memcpy(&weights[i], &w, count * sizeof(float));
      sum += w;
    }
    chunk_sums.push_back(sum_lanes(sum));
    total += chunk_sums.back();
  }
  return total;
}

HEADRACE_PER_CPU double log_sum_exp(std::span<const float> row, float max) {
  double total = 0;
  for (size_t begin = 0; begin < row.size(); begin += kChunk) {
    const size_t end = std::min(begin + kChunk, row.size());
    Floats sum{};
    for (size_t i = begin; i < end; i += kLanes) {
      const size_t count = std::min<size_t>(kLanes, end - i);
      sum += exp_lanes((count == kLanes ? load(&row[i]) : load_tail(&row[i], count)) - max);
    }
    total += sum_lanes(sum);
  }
  return max + std::log(total);
}

namespace {

// The greatest of each kTopBlock elements.
HEADRACE_PER_CPU void block_maxima(std::span<const float> row, std::vector<float>& maxima) {
  maxima.clear();
  for (size_t begin = 0; begin < row.size(); begin += kTopBlock) {
    const size_t end = std::min(begin + kTopBlock, row.size());
    Floats max = Floats{} + kLowest;
    for (size_t i = begin; i < end; i += kLanes) max = greater(i + kLanes <= end ? load(&row[i]) : load_tail(&row[i], end - i), max);
    maxima.push_back(max_lane(max));
  }
}

}  // namespace

// The k-th greatest of the blocks' maxima is no greater than the k-th greatest element, so only blocks that reach it matter.
void select_top(std::span<const float> row, int k, std::vector<TopLogit>& top) {
  const auto before = [](const TopLogit& a, const TopLogit& b) { return a.logit != b.logit ? a.logit > b.logit : a.token < b.token; };
  k = std::min<int>(k, int(row.size()));
  top.clear();
  if (k <= 0) return;
  std::vector<float> maxima, ranked;
  block_maxima(row, maxima);
  float bound = kLowest;
  if (k <= int(maxima.size())) {
    ranked = maxima;
    std::nth_element(ranked.begin(), ranked.begin() + (k - 1), ranked.end(), std::greater<>());
    bound = ranked[k - 1];
  }
  for (size_t block = 0; block < maxima.size(); ++block) {
    if (maxima[block] < bound) continue;
    const size_t end = std::min((block + 1) * kTopBlock, row.size());
    for (size_t i = block * kTopBlock; i < end; ++i)
      if (row[i] >= bound) top.push_back({int32_t(i), row[i]});
  }
  if (k < int(top.size())) {
    std::nth_element(top.begin(), top.begin() + (k - 1), top.end(), before);
    top.resize(k);
  }
  std::sort(top.begin(), top.end(), before);
}

}  // namespace headrace::runtime
