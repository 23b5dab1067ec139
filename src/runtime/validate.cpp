#include "runtime/validate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"

namespace headrace::runtime {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Written so that NaN fails.
void expect_range(std::string_view field, double value, double least, double greatest) {
  if (!(value >= least && value <= greatest)) invalid("{} is {}: must be between {} and {}", field, value, least, greatest);
}

void expect_at_least(std::string_view field, double value, double least) {
  if (!(value >= least && value < kInfinity)) invalid("{} is {}: must be a number, and at least {}", field, value, least);
}

void expect_finite(std::string_view field, double value) {
  if (!std::isfinite(value)) invalid("{} is {}: must be finite", field, value);
}

void expect_tokens(std::string_view field, std::span<const int32_t> tokens, int vocab_size) {
  for (size_t i = 0; i < tokens.size(); ++i)
    if (tokens[i] < 0 || tokens[i] >= vocab_size)
      invalid("{}[{}] is {}: token ids of this model are 0 to {}. Was the text encoded with another model's tokenizer?", field, i,
              tokens[i], vocab_size - 1);
}

void validate_sampling(const SamplingParams& p, int vocab_size) {
  expect_at_least("temperature", p.temperature, 0);
  expect_at_least("top_k", p.top_k, 0);
  expect_range("top_p", p.top_p, 0, 1);
  expect_range("min_p", p.min_p, 0, 1);
  expect_finite("repetition_penalty", p.repetition_penalty);
  if (p.repetition_penalty <= 0) invalid("repetition_penalty is {}: must be above 0, where 1 means none", p.repetition_penalty);
  expect_finite("presence_penalty", p.presence_penalty);
  expect_finite("frequency_penalty", p.frequency_penalty);
  expect_range("vocab_limit", p.vocab_limit, 0, vocab_size);
  for (const auto& [token, bias] : p.logit_bias) {
    expect_tokens("logit_bias: token", {&token, 1}, vocab_size);
    if (!(bias < kInfinity)) invalid("logit_bias of token {} is {}: must be finite, or -infinity to forbid the token", token, bias);
  }
}

void validate_lengths(const Request& r, const ModelLimits& limits) {
  const int context = max_context(limits);
  if (r.token_ids.empty()) invalid("the prompt is empty: give at least one token, such as the model's begin token");
  if (r.max_tokens) expect_at_least("max_tokens", *r.max_tokens, 0);
  expect_at_least("min_tokens", r.min_tokens, 0);
  if (r.max_tokens && r.min_tokens > *r.max_tokens)
    invalid("min_tokens is {}, max_tokens is {}: min_tokens must not be greater", r.min_tokens, *r.max_tokens);
  const size_t room = r.max_tokens == 0 ? 0 : 1;  // for at least one new token
  if (r.token_ids.size() + room > size_t(context))
    invalid("the prompt has {} tokens, but the context holds {} in all{}: shorten the prompt, or load the model with {}",
            r.token_ids.size(), context, room ? ", with at least one left for the answer" : "",
            context < limits.max_context ? "more KV blocks" : "a larger context, if it allows one");
}

}  // namespace

int max_context(const ModelLimits& limits) {
  return int(std::min<int64_t>(limits.max_context, int64_t{limits.num_blocks} * limits.block_tokens));
}

void validate(const Request& r, const ModelLimits& limits) {
  validate_lengths(r, limits);
  expect_tokens("the prompt", r.token_ids, limits.vocab_size);
  expect_tokens("stop_token_ids", r.stop_token_ids, limits.vocab_size);
  validate_sampling(r.sampling, limits.vocab_size);
  if (r.output.logprobs) expect_range("logprobs", *r.output.logprobs, 0, kMaxLogprobs);
  if (r.output.prompt_logprobs) expect_range("prompt_logprobs", *r.output.prompt_logprobs, 0, kMaxLogprobs);
  for (size_t i = 0; i < r.bad_words.size(); ++i) {
    if (r.bad_words[i].empty()) invalid("bad_words[{}] is empty: it must name at least one token", i);
    expect_tokens("bad_words", r.bad_words[i], limits.vocab_size);
  }
}

std::vector<std::unique_ptr<LogitsProcessor>> make_processors(const SamplingParams& params, const LogitsProcessors& known, int vocab_size) {
  std::vector<std::unique_ptr<LogitsProcessor>> processors;
  for (const SamplingParams::Processor& wanted : params.processors) {
    const auto at = known.find(wanted.name);
    if (at == known.end()) {
      std::string names;
      for (const auto& [name, make] : known) names += (names.empty() ? "" : ", ") + name;
      invalid("there is no logits processor '{}'; {}", printable(wanted.name),
              names.empty() ? "none is loaded: see ExecutorOptions::logits_processors and --plugin" : "there are " + names);
    }
    std::unique_ptr<LogitsProcessor> made = at->second(wanted.options, vocab_size);
    if (!made) invalid("logits processor '{}': nothing was made for the options '{}'", wanted.name, printable(wanted.options));
    processors.push_back(std::move(made));
  }
  return processors;
}

ExecutorOptions resolve(ExecutorOptions options, const ModelLimits& limits) {
  const auto at_most = [](std::string_view field, int value, int limit) {
    expect_at_least(field, value, 0);
    return value == 0 ? limit : std::min(value, limit);
  };
  for (int limit :
       {limits.vocab_size, limits.max_context, limits.block_tokens, limits.num_blocks, limits.max_step_tokens, limits.max_logit_rows})
    if (limit <= 0) invalid("the model's limits leave no room to run: each of them must be at least 1");
  options.max_step_tokens = at_most("max_step_tokens", options.max_step_tokens, limits.max_step_tokens);
  options.max_sequences = at_most("max_sequences", options.max_sequences, std::min(options.max_step_tokens, limits.max_logit_rows));
  expect_at_least("max_queued", options.max_queued, 0);
  return options;
}

}  // namespace headrace::runtime
