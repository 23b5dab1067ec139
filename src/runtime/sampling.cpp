#include "runtime/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "runtime/philox.h"

namespace headrace::runtime {
namespace {

constexpr float kForbidden = -std::numeric_limits<float>::infinity();

std::span<const float> allowed(std::span<const float> row, int vocab_limit) {
  return vocab_limit == 0 ? row : row.first(std::min(row.size(), size_t(vocab_limit)));
}

bool is_greedy(const SamplingParams& p) { return p.temperature < kGreedyTemperature || p.top_k == 1 || p.top_p == 0; }

bool ends_with(std::span<const int32_t> tokens, std::span<const int32_t> ending) {
  return tokens.size() >= ending.size() && std::ranges::equal(tokens.last(ending.size()), ending);
}

void apply_penalties(std::span<float> row, const SamplingTask& task) {
  const SamplingParams& p = task.request->sampling;
  for (const auto& [token, in_output] : task.history->entries()) {
    if (token >= int(row.size())) continue;
    float& logit = row[token];
    logit = logit > 0 ? logit / p.repetition_penalty : logit * p.repetition_penalty;
    if (in_output > 0) logit -= p.presence_penalty + p.frequency_penalty * float(in_output);
  }
}

void forbid_bad_words(std::span<float> row, const SamplingTask& task) {
  for (const std::vector<int32_t>& word : task.request->bad_words) {
    const auto beginning = std::span(word).first(word.size() - 1);
    if (word.back() < int(row.size()) && ends_with(task.tokens, beginning)) row[word.back()] = kForbidden;
  }
}

[[noreturn]] void fail_not_finite(std::span<const float> row, size_t position) {
  const auto bad = std::ranges::find_if(row, [](float x) { return !(x <= std::numeric_limits<float>::max()); });
  fail(ErrorCode::kInternal,
       "the model's logits after position {} are not finite: {} for token {}. The weights may be damaged, or the activations have "
       "overflowed: try --dtype fp32",
       position, *bad, bad - row.begin());
}

}  // namespace

bool needs_history(const SamplingParams& p) { return p.repetition_penalty != 1 || p.presence_penalty != 0 || p.frequency_penalty != 0; }

// The row itself when nothing changes it, else a changed copy.
std::span<const float> Sampler::process(std::span<const float> row, const SamplingTask& task) {
  const Request& request = *task.request;
  const bool penalize = needs_history(request.sampling), hold_open = task.num_output() < request.min_tokens;
  if (!penalize && !hold_open && request.sampling.logit_bias.empty() && request.bad_words.empty() && task.processors.empty()) return row;
  copy_.assign(row.begin(), row.end());
  if (penalize) apply_penalties(copy_, task);
  for (const auto& [token, bias] : request.sampling.logit_bias)
    if (token < int(copy_.size())) copy_[token] += bias;
  if (hold_open)
    for (int32_t token : task.end_tokens)
      if (token < int(copy_.size())) copy_[token] = kForbidden;
  forbid_bad_words(copy_, task);
  for (const std::unique_ptr<LogitsProcessor>& processor : task.processors) processor->process(task.tokens, task.num_prompt, copy_);
  return copy_;
}

float Sampler::checked_max(std::span<const float> processed, std::span<const float> raw, const SamplingTask& task) const {
  const RowScan scan = scan_row(processed);
  if (scan.valid && scan.max > kForbidden) return scan.max;
  const RowScan before = scan_row(raw);
  if (!before.valid) fail_not_finite(raw, task.tokens.size() - 1);
  if (!scan.valid)
    invalid("penalties, logit_bias or processors made a logit infinite or NaN after position {}: use smaller values",
            task.tokens.size() - 1);
  if (before.max == kForbidden)
    fail(ErrorCode::kInternal, "the model's logits after position {} are all -infinity", task.tokens.size() - 1);
  invalid("every token is forbidden after position {}: by logit_bias, bad_words, processors or min_tokens. Relax one of them",
          task.tokens.size() - 1);
}

int32_t Sampler::sample(std::span<const float> logits, const SamplingTask& task) {
  const std::span<const float> raw = allowed(logits, task.request->sampling.vocab_limit);
  const std::span<const float> row = process(raw, task);
  const float max = checked_max(row, raw, task);
  const SamplingParams& p = task.request->sampling;
  if (is_greedy(p)) return first_equal(row, max);
  const DrawOptions options{.temperature = p.temperature, .top_k = p.top_k, .top_p = p.top_p, .min_p = p.min_p};
  return drawer_.draw(row, max, options, uniform_at(task.seed, task.tokens.size()));
}

TokenLogprobs logprobs(std::span<const float> logits, int32_t token, int num_top, int vocab_limit) {
  const RowScan scan = scan_row(logits);
  if (!scan.valid || scan.max == kForbidden) fail(ErrorCode::kInternal, "log-probabilities: the model's logits are not finite");
  const double norm = log_sum_exp(logits, scan.max);
  TokenLogprobs result{.logprob = float(logits[token] - norm)};
  if (num_top == 0) return result;
  std::vector<TopLogit> top;
  select_top(allowed(logits, vocab_limit), num_top, top);
  for (const auto& [id, logit] : top) result.top.push_back({id, float(logit - norm)});
  return result;
}

}  // namespace headrace::runtime
