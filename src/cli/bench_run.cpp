#include "cli/bench_run.h"

#include <algorithm>
#include <cmath>
#include <latch>
#include <random>

#include "cli/model_options.h"
#include "core/error.h"

namespace headrace::cli {
namespace {

// When tokens came, noted by the Executor's callbacks.
class Arrivals {
 public:
  explicit Arrivals(int batch) : sequences_(size_t(batch)), left_(batch) {}

  void add(size_t sequence, const Response& r) {
    const double now = now_s();
    std::vector<Arrival>& arrivals = sequences_[sequence];
    if (!r.token_ids.empty()) arrivals.push_back({now, (arrivals.empty() ? 0 : arrivals.back().total) + int(r.token_ids.size())});
    if (r.finish == FinishReason::kError) error_ = r.error;
    if (!r.finished()) return;
    if (first_ended_ < 0) {
      first_ended_ = int(sequence);
      seconds_per_token_ = r.timings.seconds_per_token;
    }
    if (--left_ == 0) done_.count_down();
  }
  // Afterwards the rest may be asked.
  void wait() {
    done_.wait();
    if (!error_.empty()) fail(ErrorCode::kInternal, "{}", error_);
  }

  double last_first_token() const {
    double last = 0;
    for (const auto& arrivals : sequences_) last = std::max(last, arrivals.front().time);
    return last;
  }
  // Tokens per second from then until a sequence ends. All sequences step together, so the one that ends first counts for all.
  std::optional<double> steady_rate() const {
    const std::vector<Arrival>& counted = sequences_[size_t(first_ended_)];
    const double begin = last_first_token();
    const auto from = std::min_element(counted.begin(), counted.end(), [&](const Arrival& a, const Arrival& b) {
      return std::abs(a.time - begin) < std::abs(b.time - begin);
    });
    if (sequences_.size() == 1 || from->time >= counted.back().time)  // alone, or too fast for the callbacks: the Executor's own clock
      return seconds_per_token_ && *seconds_per_token_ > 0 ? std::optional(double(sequences_.size()) / *seconds_per_token_) : std::nullopt;
    return double(sequences_.size()) * (counted.back().total - from->total) / (counted.back().time - from->time);
  }

 private:
  struct Arrival {
    double time;
    int total;  // tokens of the sequence so far
  };
  std::vector<std::vector<Arrival>> sequences_;
  int first_ended_ = -1, left_;
  std::optional<double> seconds_per_token_;  // of the one that ended first
  std::string error_;
  std::latch done_{1};
};

BenchTimes measure_once(Executor& executor, const BenchCase& c, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::vector<int32_t>> prompts(size_t(c.batch), std::vector<int32_t>(size_t(std::max(c.prompt, 1))));
  for (auto& prompt : prompts)
    for (int32_t& id : prompt) id = int32_t(random() % uint64_t(executor.vocab_size()));
  const auto arrivals = std::make_shared<Arrivals>(c.batch);
  const double start = now_s();
  for (size_t s = 0; s < prompts.size(); ++s)
    executor.enqueue({.token_ids = prompts[s], .max_tokens = c.gen + 1, .streaming = true, .ignore_eos = true},
                     [arrivals, s](const Response& response) { arrivals->add(s, response); });
  arrivals->wait();
  BenchTimes times;
  if (c.prompt > 0) times.prefill_tokens_per_s = double(c.prompt) * c.batch / (arrivals->last_first_token() - start);
  if (c.gen > 0) times.decode_tokens_per_s = arrivals->steady_rate();
  return times;
}

std::optional<double> median(std::vector<std::optional<double>> values) {
  if (values.empty() || !values[0]) return std::nullopt;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

BenchTimes measure(Executor& executor, const BenchCase& c, int rounds) {
  measure_once(executor, {c.batch, std::min(c.prompt, 64), std::min(c.gen, 4)}, 0);  // warms up
  std::vector<std::optional<double>> prefill, decode;
  for (int round = 0; round < rounds; ++round) {
    const BenchTimes times = measure_once(executor, c, uint64_t(round) + 1);
    prefill.push_back(times.prefill_tokens_per_s);
    decode.push_back(times.decode_tokens_per_s);
  }
  return {median(std::move(prefill)), median(std::move(decode))};
}

}  // namespace headrace::cli
