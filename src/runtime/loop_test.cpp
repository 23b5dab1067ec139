// The loop, stepped by hand: no threads, no time.
#include "runtime/loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "runtime/fake_model.h"
#include "runtime/validate.h"

namespace headrace::runtime {
namespace {

using testing::HasSubstr;

constexpr ModelLimits kLimits{
    .vocab_size = 48, .max_context = 96, .block_tokens = 4, .num_blocks = 200, .max_step_tokens = 64, .max_logit_rows = 16};
constexpr int32_t kEos = 7;

// What a request must give, computed without cache, batch or scheduler.
Response expected(const FakeModel& model, const Request& request) {
  const auto sequence = make_sequence(1, request, max_context(model.limits()), std::vector<int32_t>{kEos});
  Sampler sampler;
  const int vocab_limit = request.sampling.vocab_limit;
  Response response;
  std::vector<int32_t> tokens = request.token_ids;
  if (request.output.prompt_logprobs)
    for (size_t i = 1; i < tokens.size(); ++i)
      response.prompt_logprobs.push_back(
          logprobs(model.logits_after(std::span(tokens).first(i)), tokens[i], *request.output.prompt_logprobs, vocab_limit));
  response.finish = FinishReason::kLength;
  while (int(tokens.size()) < sequence->max_length) {
    const std::vector<float> logits = model.logits_after(tokens);
    const int32_t token =
        sampler.sample(logits, {&request, &sequence->history, tokens, sequence->num_prompt, sequence->end_tokens, sequence->seed});
    tokens.push_back(token);
    if (needs_history(request.sampling)) sequence->history.add_output(token);
    response.token_ids.push_back(token);
    if (request.output.logprobs) response.logprobs.push_back(logprobs(logits, token, *request.output.logprobs, vocab_limit));
    if (std::ranges::find(sequence->end_tokens, token) != sequence->end_tokens.end()) {
      response.finish = FinishReason::kStop;
      break;
    }
  }
  return response;
}

bool equal(const std::vector<TokenLogprobs>& a, const std::vector<TokenLogprobs>& b) {
  return std::ranges::equal(a, b, [](const TokenLogprobs& x, const TokenLogprobs& y) {
    return x.logprob == y.logprob && std::ranges::equal(x.top, y.top, [](const TokenLogprob& p, const TokenLogprob& q) {
             return p.token == q.token && p.logprob == q.logprob;
           });
  });
}

// A loop with everything around it, and all that it sent, merged per request.
struct Bench {
  explicit Bench(const ModelLimits& limits = kLimits, ExecutorOptions o = {})
      : model(limits), options(with_eos(o, limits)), runner(model), inbox(options.max_queued),
        loop(runner, limits, options, inbox, outbox) {}

  static ExecutorOptions with_eos(ExecutorOptions o, const ModelLimits& limits) {
    o.eos_token_ids = {kEos};
    return resolve(o, limits);
  }
  RequestId add(const Request& request) {
    validate(request, model.limits());
    const RequestId id = ++last_id;
    requests[id] = request;
    outbox.open(id, nullptr);
    inbox.add(make_sequence(id, request, max_context(model.limits()), options.eos_token_ids));
    return id;
  }
  void step() {
    loop.step();
    const auto tables = loop.tables();
    ASSERT_NO_THROW(loop.cache().check_invariants(tables));
    for (Response& r : outbox.await_any(std::chrono::nanoseconds(0))) {
      ++num_responses[r.id];
      Response& all = responses[r.id];
      EXPECT_FALSE(all.finished()) << "a response after the last one";
      all.token_ids.insert(all.token_ids.end(), r.token_ids.begin(), r.token_ids.end());
      all.logprobs.insert(all.logprobs.end(), r.logprobs.begin(), r.logprobs.end());
      all.prompt_logprobs.insert(all.prompt_logprobs.end(), r.prompt_logprobs.begin(), r.prompt_logprobs.end());
      all.finish = r.finish;
      all.error = r.error;
      all.num_cached_tokens = r.num_cached_tokens;
      all.timings = r.timings;
    }
  }
  void run(int max_steps = 100000) {
    while (!loop.tables().empty() || inbox.num_queued() > 0) {
      ASSERT_GT(max_steps--, 0) << "the loop makes no progress";
      step();
    }
  }
  void expect_right(RequestId id) {
    const Response& found = responses[id];
    const Response wanted = expected(model, requests[id]);
    EXPECT_EQ(found.finish, wanted.finish) << found.error;
    EXPECT_EQ(found.token_ids, wanted.token_ids);
    EXPECT_TRUE(equal(found.logprobs, wanted.logprobs));
    EXPECT_TRUE(equal(found.prompt_logprobs, wanted.prompt_logprobs));
  }

  FakeModel model;
  ExecutorOptions options;
  HostRunner runner;
  Inbox inbox;
  Outbox outbox;
  Loop loop;
  RequestId last_id = 0;
  std::map<RequestId, Request> requests;
  std::map<RequestId, Response> responses;
  std::map<RequestId, int> num_responses;
};

std::vector<int32_t> prompt_of(int length, int first = 10) {
  std::vector<int32_t> tokens(length);
  for (int i = 0; i < length; ++i) tokens[i] = (first + i * 5) % kLimits.vocab_size;
  return tokens;
}

TEST(Loop, OneRequestGivesWhatTheModelSaysStepByStep) {
  Bench b;
  const RequestId id = b.add({.token_ids = prompt_of(9), .max_tokens = 20, .ignore_eos = true});
  b.run();
  b.expect_right(id);
  EXPECT_EQ(b.responses[id].token_ids.size(), 20);
  EXPECT_EQ(b.num_responses[id], 1);
  EXPECT_EQ(b.model.num_steps, 20);
  EXPECT_EQ(b.model.num_tokens, 9 + 19) << "the last token is never computed";
}

TEST(Loop, StreamsOneTokenPerStep) {
  Bench b;
  const RequestId id = b.add({.token_ids = prompt_of(9), .max_tokens = 6, .streaming = true, .ignore_eos = true});
  b.run();
  b.expect_right(id);
  EXPECT_EQ(b.num_responses[id], 6);
}

TEST(Loop, LongPromptsAreComputedInChunks) {
  Bench b({.vocab_size = 48, .max_context = 96, .block_tokens = 4, .num_blocks = 200, .max_step_tokens = 10, .max_logit_rows = 4});
  const RequestId id = b.add({.token_ids = prompt_of(85), .max_tokens = 3, .ignore_eos = true});
  b.run();
  b.expect_right(id);
  EXPECT_EQ(b.model.num_steps, 9 + 2);
}

TEST(Loop, GenerationGoesOnWhileALongPromptIsRead) {
  Bench b({.vocab_size = 48, .max_context = 96, .block_tokens = 4, .num_blocks = 200, .max_step_tokens = 10, .max_logit_rows = 4});
  const RequestId first = b.add({.token_ids = prompt_of(5), .max_tokens = 8, .ignore_eos = true});
  b.step();
  const RequestId second = b.add({.token_ids = prompt_of(85, 11), .max_tokens = 1, .ignore_eos = true});
  for (int i = 0; i < 7; ++i) b.step();
  EXPECT_TRUE(b.responses[first].finished());
  EXPECT_FALSE(b.responses[second].finished());
  b.run();
  b.expect_right(first);
  b.expect_right(second);
}

TEST(Loop, AShortPromptIsNotStuckBehindALongOne) {
  Bench b({.vocab_size = 48, .max_context = 96, .block_tokens = 4, .num_blocks = 200, .max_step_tokens = 16, .max_logit_rows = 4});
  const RequestId book = b.add({.token_ids = prompt_of(90), .max_tokens = 1});
  b.step();
  const RequestId question = b.add({.token_ids = prompt_of(3), .max_tokens = 1});
  b.step();
  EXPECT_TRUE(b.responses[question].finished());
  EXPECT_FALSE(b.responses[book].finished());
}

TEST(Loop, HigherPriorityStartsFirstAndEqualsInOrder) {
  ExecutorOptions one_at_a_time{.max_sequences = 1};
  Bench b(kLimits, one_at_a_time);
  const RequestId low = b.add({.token_ids = prompt_of(3), .max_tokens = 2, .priority = -1});
  const RequestId first = b.add({.token_ids = prompt_of(3), .max_tokens = 2});
  const RequestId second = b.add({.token_ids = prompt_of(3), .max_tokens = 2});
  const RequestId high = b.add({.token_ids = prompt_of(3), .max_tokens = 2, .priority = 5});
  std::vector<RequestId> order;
  while (order.size() < 4) {
    b.step();
    for (RequestId id : {low, first, second, high})
      if (b.responses[id].finished() && std::ranges::find(order, id) == order.end()) order.push_back(id);
  }
  EXPECT_EQ(order, (std::vector<RequestId>{high, first, second, low}));
}

TEST(Loop, EqualBeginningsAreComputedOnce) {
  Bench b;
  const RequestId first = b.add({.token_ids = prompt_of(40), .max_tokens = 2});
  b.run();
  const int before = b.model.num_tokens;
  const RequestId second = b.add({.token_ids = prompt_of(42), .max_tokens = 1});
  b.run();
  b.expect_right(first);
  b.expect_right(second);
  EXPECT_EQ(b.responses[second].num_cached_tokens, 40);
  EXPECT_EQ(b.model.num_tokens - before, 2);
}

TEST(Loop, PromptLogprobsComeInChunksThatFitTheRows) {
  Bench b;  // 16 rows a step
  const RequestId warm = b.add({.token_ids = prompt_of(50), .max_tokens = 1});
  b.run();
  const RequestId id =
      b.add({.token_ids = prompt_of(50), .max_tokens = 3, .output = {.logprobs = 2, .prompt_logprobs = 3}, .ignore_eos = true});
  b.run();
  b.expect_right(warm);
  b.expect_right(id);
  EXPECT_EQ(b.responses[id].num_cached_tokens, 0);
}

TEST(Loop, HandsOverTheLogitsOfEveryPositionOnce) {
  Bench b;
  std::vector<float> all;
  Request request{.token_ids = prompt_of(50), .max_tokens = 3, .ignore_eos = true};
  request.output.on_logits = [&](int first, std::span<const float> logits, int vocab) {
    EXPECT_EQ(size_t(first) * vocab, all.size());
    all.insert(all.end(), logits.begin(), logits.end());
  };
  const RequestId id = b.add(request);
  b.run();
  b.expect_right(id);
  std::vector<int32_t> tokens = request.token_ids;
  tokens.insert(tokens.end(), b.responses[id].token_ids.begin(), b.responses[id].token_ids.end());
  ASSERT_EQ(all.size(), 52 * kLimits.vocab_size) << "the last token of all is never computed";
  for (size_t position = 0; position < 52; ++position)
    EXPECT_TRUE(std::ranges::equal(std::span(all).subspan(position * kLimits.vocab_size, kLimits.vocab_size),
                                   b.model.logits_after(std::span(tokens).first(position + 1))));
}

TEST(Loop, MaxTokensZeroOnlyReadsThePrompt) {
  Bench b;
  const RequestId plain = b.add({.token_ids = prompt_of(20), .max_tokens = 0});
  const RequestId scored = b.add({.token_ids = prompt_of(20), .max_tokens = 0, .output = {.prompt_logprobs = 0}});
  const RequestId full = b.add({.token_ids = prompt_of(96), .max_tokens = 0, .output = {.prompt_logprobs = 0}});
  b.run();
  for (RequestId id : {plain, scored, full}) {
    b.expect_right(id);
    EXPECT_EQ(b.responses[id].finish, FinishReason::kLength);
    EXPECT_TRUE(b.responses[id].token_ids.empty());
  }
}

TEST(Loop, StopsAtTheEndTokenAndAtTheContext) {
  Bench b;
  int stopped = 0;
  for (int i = 0; i < 40; ++i) b.add({.token_ids = prompt_of(1 + i, i), .stop_token_ids = {9}});
  b.run();
  for (auto& [id, response] : b.responses) {
    b.expect_right(id);
    stopped += response.finish == FinishReason::kStop;
    if (response.finish == FinishReason::kStop) EXPECT_TRUE(response.token_ids.back() == kEos || response.token_ids.back() == 9);
    else EXPECT_EQ(response.token_ids.size() + b.requests[id].token_ids.size(), kLimits.max_context);
  }
  EXPECT_GT(stopped, 10);
  EXPECT_LT(stopped, 40);
}

TEST(Loop, MinTokensHoldsTheEndBack) {
  Bench b;
  for (int i = 0; i < 40; ++i) b.add({.token_ids = prompt_of(3, i), .max_tokens = 60, .min_tokens = 30});
  b.run();
  for (auto& [id, response] : b.responses) {
    b.expect_right(id);
    EXPECT_GE(response.token_ids.size(), 30);
  }
}

TEST(Loop, CancelsInEveryState) {
  ExecutorOptions two{.max_sequences = 2, .max_step_tokens = 8};
  Bench b(kLimits, two);
  const RequestId generating = b.add({.token_ids = prompt_of(3), .max_tokens = 50, .ignore_eos = true});
  const RequestId reading = b.add({.token_ids = prompt_of(60), .max_tokens = 50, .ignore_eos = true});
  const RequestId waiting = b.add({.token_ids = prompt_of(5), .max_tokens = 5, .ignore_eos = true});
  b.step();
  b.step();
  for (RequestId id : {generating, reading, waiting, RequestId{999}}) b.inbox.cancel(id);
  b.step();
  for (RequestId id : {generating, reading, waiting}) EXPECT_EQ(b.responses[id].finish, FinishReason::kCancelled);
  EXPECT_EQ(b.responses[generating].token_ids.size(), 2) << "what was generated is returned";
  EXPECT_EQ(b.loop.cache().num_used(), 0);
  EXPECT_EQ(b.inbox.num_queued(), 0);
}

TEST(Loop, AFailingStepFailsItsRequestsAndNoOthers) {
  Bench b(kLimits, {.max_sequences = 2});
  b.model.before_forward = [&](const Batch&) {
    if (b.model.num_steps == 3) {
      b.model.before_forward = nullptr;
      throw Error(ErrorCode::kOutOfMemory, "no memory for activations");
    }
  };
  std::vector<RequestId> ids;
  for (int i = 0; i < 4; ++i) ids.push_back(b.add({.token_ids = prompt_of(9, i), .max_tokens = 10, .ignore_eos = true}));
  b.run();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(b.responses[ids[i]].finish, FinishReason::kError);
    EXPECT_THAT(b.responses[ids[i]].error, HasSubstr("no memory for activations"));
    EXPECT_EQ(b.responses[ids[i]].token_ids.size(), 3);
  }
  for (int i = 2; i < 4; ++i) b.expect_right(ids[i]);
  EXPECT_EQ(b.loop.stats().failed_steps, 1);
}

TEST(Loop, NonFiniteLogitsFailTheirOwnRequest) {
  Bench b;
  b.model.after_forward = [](const Batch&, std::vector<float>& logits) { logits[kLimits.vocab_size + 5] = std::nanf(""); };
  std::vector<RequestId> ids;
  for (int i = 0; i < 3; ++i) ids.push_back(b.add({.token_ids = prompt_of(9, i), .max_tokens = 1}));
  b.run();
  EXPECT_EQ(b.responses[ids[1]].finish, FinishReason::kError);
  EXPECT_THAT(b.responses[ids[1]].error, HasSubstr("position 8 are not finite: nan for token 5"));
  b.expect_right(ids[0]);
  b.expect_right(ids[2]);
}

TEST(Loop, AnExceptionFromTheLogitsCallbackFailsTheRequest) {
  Bench b;
  Request request{.token_ids = prompt_of(9), .max_tokens = 4};
  request.output.on_logits = [](int, std::span<const float>, int) { throw std::runtime_error("disk full"); };
  const RequestId bad = b.add(request), good = b.add({.token_ids = prompt_of(9), .max_tokens = 4});
  request.output.on_logits = [](int, std::span<const float>, int) { throw 7; };
  const RequestId odd = b.add(request);
  b.run();
  EXPECT_THAT(b.responses[bad].error, HasSubstr("disk full"));
  EXPECT_THAT(b.responses[odd].error, HasSubstr("on_logits failed"));
  b.expect_right(good);
}

TEST(Loop, PreemptsTheNewestAndRepeatsNothing) {
  const ModelLimits tight{
      .vocab_size = 48, .max_context = 40, .block_tokens = 4, .num_blocks = 12, .max_step_tokens = 32, .max_logit_rows = 8};
  Bench b(tight, {.policy = SchedulingPolicy::kMaxUtilization});
  for (int i = 0; i < 4; ++i) b.add({.token_ids = prompt_of(8, i), .max_tokens = 30, .streaming = true, .ignore_eos = true});
  b.run();
  for (auto& [id, response] : b.responses) b.expect_right(id);
  EXPECT_GT(b.loop.stats().preemptions, 0);
}

TEST(Loop, NeverPreemptsWhenRoomIsPromised) {
  const ModelLimits tight{
      .vocab_size = 48, .max_context = 40, .block_tokens = 4, .num_blocks = 12, .max_step_tokens = 32, .max_logit_rows = 8};
  Bench b(tight);
  for (int i = 0; i < 6; ++i) b.add({.token_ids = prompt_of(8, i), .max_tokens = 30, .ignore_eos = true});
  b.run();
  for (auto& [id, response] : b.responses) b.expect_right(id);
  EXPECT_EQ(b.loop.stats().preemptions, 0);
}

// ---------------------------------------------------------------------------------------------------------------- other weights

TEST(Loop, WhatRunsIsFinishedBeforeOtherWeightsCome) {
  Bench b;
  const Request request{.token_ids = prompt_of(9), .max_tokens = 10, .ignore_eos = true};
  const Response with_old = expected(b.model, request);
  const RequestId running = b.add(request);
  for (int i = 0; i < 3; ++i) b.step();
  std::future<void> done = b.inbox.change_weights(Refit::kDrain, b.model.prepare_refit(nullptr));
  const RequestId waiting = b.add(request);
  while (!b.responses[running].finished()) {
    EXPECT_EQ(done.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
    b.step();
  }
  b.run();
  EXPECT_EQ(done.wait_for(std::chrono::seconds(0)), std::future_status::ready);
  EXPECT_EQ(b.responses[running].token_ids, with_old.token_ids);
  b.expect_right(waiting);
  EXPECT_NE(b.responses[waiting].token_ids, with_old.token_ids);
  EXPECT_EQ(b.responses[waiting].num_cached_tokens, 0) << "the same prompt, computed with other weights";
}

TEST(Loop, WhatIsComputedAgainGoesOnWithOtherWeights) {
  Bench b;
  const RequestId id = b.add({.token_ids = prompt_of(9), .max_tokens = 10, .streaming = true, .ignore_eos = true});
  for (int i = 0; i < 3; ++i) b.step();
  const std::vector<int32_t> before = b.responses[id].token_ids;
  ASSERT_EQ(before.size(), 3u);
  std::future<void> done = b.inbox.change_weights(Refit::kRecompute, b.model.prepare_refit(nullptr));
  b.step();
  EXPECT_EQ(done.wait_for(std::chrono::seconds(0)), std::future_status::ready) << "before the step";
  b.run();
  Request rest{.token_ids = prompt_of(9), .max_tokens = 7, .ignore_eos = true};
  rest.token_ids.insert(rest.token_ids.end(), before.begin(), before.end());
  std::vector<int32_t> wanted = expected(b.model, rest).token_ids;
  wanted.insert(wanted.begin(), before.begin(), before.end());
  EXPECT_EQ(b.responses[id].token_ids, wanted);
}

TEST(Loop, WhatWasStoppedIsFinishedTooBeforeOtherWeightsCome) {
  const ModelLimits tight{
      .vocab_size = 48, .max_context = 40, .block_tokens = 4, .num_blocks = 12, .max_step_tokens = 32, .max_logit_rows = 8};
  Bench b(tight, {.policy = SchedulingPolicy::kMaxUtilization});
  std::map<RequestId, Response> with_old;
  for (int i = 0; i < 4; ++i) {
    const Request request{.token_ids = prompt_of(8, i), .max_tokens = 30, .ignore_eos = true};
    with_old[b.add(request)] = expected(b.model, request);
  }
  while (b.loop.stats().preemptions == 0) b.step();
  std::future<void> done = b.inbox.change_weights(Refit::kDrain, b.model.prepare_refit(nullptr));
  const RequestId later = b.add({.token_ids = prompt_of(8, 9), .max_tokens = 30, .ignore_eos = true, .priority = 5});
  b.run();
  for (const auto& [id, wanted] : with_old) EXPECT_EQ(b.responses[id].token_ids, wanted.token_ids) << id;
  b.expect_right(later);
  EXPECT_EQ(b.model.weights, 1);
}

// ---------------------------------------------------------------------------------------------------------------- anything at once

Request random_request(std::mt19937& random, int context) {
  const auto chance = [&](int one_in) { return random() % one_in == 0; };
  Request r;
  // Few beginnings, so that prefixes are shared and tails differ.
  const int length = chance(4) ? 1 + random() % (context - 2) : 1 + random() % 12;
  r.token_ids = prompt_of(length, random() % 3);
  if (chance(2)) r.token_ids.back() = random() % kLimits.vocab_size;
  if (!chance(5)) r.max_tokens = chance(8) ? 0 : 1 + random() % 24;
  if (r.max_tokens && chance(4)) r.min_tokens = random() % (*r.max_tokens + 1);
  r.streaming = chance(2);
  r.priority = chance(3) ? int(random() % 3) : 0;
  r.ignore_eos = chance(4);
  if (chance(4)) r.stop_token_ids = {int32_t(random() % kLimits.vocab_size)};
  if (chance(6)) r.bad_words = {{3}, {5, int32_t(random() % kLimits.vocab_size)}};
  if (chance(5)) r.output.logprobs = random() % 4;
  if (chance(6)) r.output.prompt_logprobs = random() % 3;
  SamplingParams& p = r.sampling;
  p.seed = random();
  if (chance(2)) p.temperature = 0.1f + float(random() % 20) / 10;
  if (chance(3)) p.top_k = random() % 10;
  if (chance(3)) p.top_p = float(random() % 11) / 10;
  if (chance(3)) p.min_p = float(random() % 5) / 10;
  if (chance(3)) p.repetition_penalty = 1.3f;
  if (chance(4)) p.presence_penalty = 0.5f;
  if (chance(4)) p.frequency_penalty = 0.25f;
  if (chance(2)) p.vocab_limit = kLimits.vocab_size - int(random() % 4);
  if (chance(4)) p.logit_bias = {{2, 3.f}, {4, -INFINITY}};
  return r;
}

struct Tally {
  int64_t preemptions = 0, cached_tokens = 0, cancelled = 0, stopped = 0;
};

void run_random_schedule(unsigned seed, Tally& tally) {
  std::mt19937 random(seed);
  const auto between = [&](int least, int most) { return int(least + random() % (most - least + 1)); };
  ModelLimits limits{.vocab_size = kLimits.vocab_size,
                     .max_context = between(16, 64),
                     .block_tokens = between(1, 6),
                     .max_step_tokens = between(1, 40),
                     .max_logit_rows = between(1, 12)};
  limits.num_blocks = (limits.max_context + limits.block_tokens - 1) / limits.block_tokens + between(0, 12);
  ExecutorOptions options{.policy = random() % 2 ? SchedulingPolicy::kMaxUtilization : SchedulingPolicy::kNoEvict,
                          .prefix_cache = random() % 4 > 0};
  Bench b(limits, options);
  std::set<RequestId> cancelled;
  const int count = between(1, 24);
  for (int i = 0; i < count; ++i) {
    b.add(random_request(random, max_context(limits)));
    for (int steps = random() % 4; steps > 0; --steps) b.step();
    if (random() % 12 == 0) {
      const RequestId id = between(1, int(b.last_id));
      b.inbox.cancel(id);
      cancelled.insert(id);
    }
  }
  b.run();
  for (const auto& [id, request] : b.requests) {
    const Response& found = b.responses[id];
    tally.stopped += found.finish == FinishReason::kStop;
    if (found.finish != FinishReason::kCancelled) {
      b.expect_right(id);
    } else {
      EXPECT_TRUE(cancelled.contains(id));
      ++tally.cancelled;
      const Response wanted = expected(b.model, request);
      ASSERT_LE(found.token_ids.size(), wanted.token_ids.size());
      EXPECT_TRUE(std::equal(found.token_ids.begin(), found.token_ids.end(), wanted.token_ids.begin()));
    }
  }
  EXPECT_EQ(b.loop.cache().num_used(), 0);
  EXPECT_EQ(b.loop.stats().finished_requests, count);
  tally.preemptions += b.loop.stats().preemptions;
  tally.cached_tokens += b.loop.stats().cached_prompt_tokens;
}

TEST(Loop, EveryRequestGivesTheSameInAnyCompany) {
  Tally tally;
  for (unsigned seed = 1; seed <= 3000; ++seed) {
    run_random_schedule(seed, tally);
    ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed;
  }
  EXPECT_GT(tally.preemptions, 1000);
  EXPECT_GT(tally.cached_tokens, 10000);
  EXPECT_GT(tally.cancelled, 500);
  EXPECT_GT(tally.stopped, 5000);
}

}  // namespace
}  // namespace headrace::runtime
