#include "runtime/sequence.h"

#include <algorithm>
#include <random>

#include "runtime/sampling.h"

namespace headrace::runtime {

std::unique_ptr<Sequence> make_sequence(RequestId id, Request request, int max_context, std::span<const int32_t> eos_tokens,
                                        std::vector<std::unique_ptr<LogitsProcessor>> processors) {
  auto s = std::make_unique<Sequence>();
  s->id = id;
  s->queued = Clock::now();
  s->num_prompt = int(request.token_ids.size());
  s->max_length = int(std::min<int64_t>(int64_t{s->num_prompt} + request.max_tokens.value_or(max_context), max_context));
  s->tokens = request.token_ids;
  if (needs_history(request.sampling)) s->history.add_prompt(s->tokens);
  s->end_tokens = request.stop_token_ids;
  if (!request.ignore_eos) s->end_tokens.insert(s->end_tokens.end(), eos_tokens.begin(), eos_tokens.end());
  s->seed = request.sampling.seed ? *request.sampling.seed : std::random_device{}() | uint64_t{std::random_device{}()} << 32;
  s->processors = std::move(processors);
  s->request = std::move(request);
  return s;
}

}  // namespace headrace::runtime
