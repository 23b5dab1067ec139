// Perplexity of a text: how well a model foresees it. exp of the mean negative log-likelihood of its tokens.
//
//   LLM llm("SmolLM2-135M.gguf");
//   const std::vector<int32_t> ids = llm.tokenizer().encode(text, {.add_special = false});
//   double ppl = measure_perplexity(llm.executor(), ids, {.context = 512}).perplexity();
// For the log-probabilities of single tokens see OutputOptions::prompt_logprobs.
#pragma once

#include "headrace/executor.h"

namespace headrace {

struct Perplexity {
  double nll = 0;  // negative log-likelihood of the scored tokens together, in nats
  int64_t scored_tokens = 0;
  int windows = 0;            // that were computed
  double perplexity() const;  // exp(nll / scored_tokens)
};

struct PerplexityOptions {
  int context = 512;  // tokens of a window; at most the Executor's max_context()
  // 0: one window after the other, of each the second half is scored and a shorter rest left out, as llama.cpp's perplexity does. Else
  // windows move by so many tokens, and each token is scored once with as much before it as fits, as Hugging Face's guide does.
  int stride = 0;
  std::function<void(const Perplexity& so_far, int num_windows)> on_window;  // after each window
};

// Throws Error(kInvalidArgument) when there are too few tokens to score one, or the options do not fit. An Executor with a prefix cache
// is fine: prompts that are scored are computed.
Perplexity measure_perplexity(Executor& executor, std::span<const int32_t> token_ids, const PerplexityOptions& options = {});

}  // namespace headrace
