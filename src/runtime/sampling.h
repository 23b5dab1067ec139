// From one row of logits to one token: Hugging Face's processors in Hugging Face's order, then the draw. What it costs beyond the
// draw grows with the tokens concerned, not with the vocabulary, except for one copy of the row when anything changes at all.
#pragma once

#include "headrace/executor.h"
#include "runtime/draw.h"
#include "runtime/token_history.h"

namespace headrace::runtime {

// What decides the next token, besides the logits.
struct SamplingTask {
  const Request* request = nullptr;
  const TokenHistory* history = nullptr;  // needed for the three penalties only
  std::span<const int32_t> tokens;        // prompt and output so far
  int num_prompt = 0;
  std::span<const int32_t> end_tokens;  // forbidden until min_tokens
  uint64_t seed = 0;
  std::span<const std::unique_ptr<LogitsProcessor>> processors;

  int num_output() const { return int(tokens.size()) - num_prompt; }
};

// True when the three penalties are not all neutral: the sequence then keeps a TokenHistory.
bool needs_history(const SamplingParams& params);

// Holds scratch memory: one per thread.
class Sampler {
 public:
  // Throws Error(kInternal) when the logits hold NaN or infinity, Error(kInvalidArgument) when every token is forbidden.
  int32_t sample(std::span<const float> logits, const SamplingTask& task);

 private:
  std::span<const float> process(std::span<const float> row, const SamplingTask& task);
  float checked_max(std::span<const float> processed, std::span<const float> raw, const SamplingTask& task) const;

  std::vector<float> copy_;
  Drawer drawer_;
};

// Log-softmax of the raw row, at `token` and at the `num_top` likeliest of the tokens below vocab_limit (0: of all).
// Throws Error(kInternal) when the row holds NaN or infinity.
TokenLogprobs logprobs(std::span<const float> logits, int32_t token, int num_top, int vocab_limit);

}  // namespace headrace::runtime
