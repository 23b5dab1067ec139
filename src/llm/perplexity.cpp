#include "headrace/perplexity.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace headrace {
namespace {

// A window of the text, of which the tokens from `first_scored` on (counted in the text) are scored.
struct Window {
  size_t begin, end, first_scored;
};

// One after the other; of each the second half is scored. A shorter rest is left out.
std::vector<Window> halves(size_t num_tokens, size_t context) {
  std::vector<Window> windows;
  for (size_t begin = 0; begin + context <= num_tokens; begin += context)
    windows.push_back({begin, begin + context, begin + context / 2 + 1});
  return windows;
}

// Windows that move by `stride`; each token is scored once.
std::vector<Window> sliding(size_t num_tokens, size_t context, size_t stride) {
  std::vector<Window> windows;
  for (size_t begin = 0, scored = 1; scored < num_tokens; begin += stride) {
    const size_t end = std::min(begin + context, num_tokens);
    windows.push_back({begin, end, std::max(scored, begin + 1)});
    scored = end;
  }
  return windows;
}

std::vector<Window> windows_of(size_t num_tokens, const PerplexityOptions& options, int max_context) {
  if (options.context < 2 || options.context > max_context)
    invalid("perplexity: a context of {} tokens; between 2 and {} are possible with this model", options.context, max_context);
  if (options.stride < 0 || options.stride > options.context)
    invalid("perplexity: a stride of {}; between 1 and the context, {}, is wanted, or 0 for halves of windows", options.stride,
            options.context);
  if (num_tokens < 2) invalid("perplexity: the text has {} tokens; at least 2 are needed", num_tokens);
  if (options.stride > 0) return sliding(num_tokens, size_t(options.context), size_t(options.stride));
  if (num_tokens < size_t(options.context))
    invalid("perplexity: the text has {} tokens, fewer than one window of {}; give a longer text or a smaller context", num_tokens,
            options.context);
  return halves(num_tokens, size_t(options.context));
}

void add(Perplexity& sum, Executor& executor, std::span<const int32_t> ids, const Window& w) {
  const RequestId id = executor.enqueue(
      {.token_ids = {ids.begin() + int64_t(w.begin), ids.begin() + int64_t(w.end)}, .max_tokens = 0, .output = {.prompt_logprobs = 0}});
  const std::optional<Response> response = executor.await(id);
  if (response->finish == FinishReason::kError) fail(ErrorCode::kInternal, "{}", response->error);
  if (response->finish == FinishReason::kCancelled) fail(ErrorCode::kUnsupported, "perplexity: the request was cancelled");
  for (size_t i = w.first_scored; i < w.end; ++i) sum.nll -= response->prompt_logprobs[i - w.begin - 1].logprob;  // entry k: token k + 1
  sum.scored_tokens += int64_t(w.end - w.first_scored);
  ++sum.windows;
}

}  // namespace

double Perplexity::perplexity() const { return std::exp(nll / double(scored_tokens)); }

Perplexity measure_perplexity(Executor& executor, std::span<const int32_t> token_ids, const PerplexityOptions& options) {
  const std::vector<Window> windows = windows_of(token_ids.size(), options, executor.max_context());
  Perplexity sum;
  for (const Window& window : windows) {
    add(sum, executor, token_ids, window);
    if (options.on_window) options.on_window(sum, int(windows.size()));
  }
  return sum;
}

}  // namespace headrace
