// A request's state while it is served. Owned by the loop; plain data.
#pragma once

#include <chrono>

#include "headrace/executor.h"
#include "runtime/kv_cache.h"
#include "runtime/token_history.h"

namespace headrace::runtime {

using Clock = std::chrono::steady_clock;

struct Sequence {
  RequestId id = 0;  // also the order of arrival
  Request request;
  std::vector<int32_t> end_tokens;  // any of them finishes it
  uint64_t seed = 0;
  int num_prompt = 0;
  int max_length = 0;  // tokens at which it is finished

  std::vector<std::unique_ptr<LogitsProcessor>> processors;
  std::vector<int32_t> tokens;  // prompt, then output
  TokenHistory history;         // kept when penalties need it
  BlockTable table;
  int num_computed = 0;  // leading tokens whose keys and values are in the cache
  int num_reported = 0;  // leading positions whose logits have been turned into prompt log-probabilities or handed over
  int num_cached = 0;    // prompt tokens that the prefix cache had when it first started
  int num_preemptions = 0;
  Response unsent;  // what the caller has not been told yet
  Clock::time_point queued;
  std::optional<Clock::time_point> scheduled, first_token, last_token;

  int num_uncomputed() const { return int(tokens.size()) - num_computed; }
  int num_output() const { return int(tokens.size()) - num_prompt; }
  // Every position's logits are wanted from here on, not only the last one's.
  bool wants_all_logits() const { return request.output.on_logits || (request.output.prompt_logprobs && num_reported < num_prompt - 1); }
  // Whether the last token's logits choose a next one.
  bool wants_next_token() const { return int(tokens.size()) < max_length; }
  // Its keys and values are needed only for tokens that another token follows.
  int max_cached_tokens() const { return max_length > num_prompt ? max_length - 1 : max_length; }
};

// Of a valid request. max_context and eos_tokens are the model's, processors those that the request has chosen.
std::unique_ptr<Sequence> make_sequence(RequestId id, Request request, int max_context, std::span<const int32_t> eos_tokens,
                                        std::vector<std::unique_ptr<LogitsProcessor>> processors = {});

// Higher priority first, then the order of arrival.
struct ServedBefore {
  bool operator()(const Sequence* a, const Sequence* b) const {
    return a->request.priority != b->request.priority ? a->request.priority > b->request.priority : a->id < b->id;
  }
};

}  // namespace headrace::runtime
