#include "headrace/executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <random>
#include <semaphore>
#include <set>
#include <thread>

#include "core/thread_pool.h"
#include "runtime/fake_model.h"
#include "runtime/outbox.h"

namespace headrace::runtime {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

constexpr ModelLimits kLimits{
    .vocab_size = 40, .max_context = 64, .block_tokens = 4, .num_blocks = 64, .max_step_tokens = 32, .max_logit_rows = 8};

// Steps only as often as it is allowed to.
class GatedModel : public FakeModel {
 public:
  explicit GatedModel(std::counting_semaphore<>& gate) : FakeModel(kLimits) {
    before_forward = [&gate](const Batch&) { gate.acquire(); };
  }
};

Executor make(ExecutorOptions options = {}) { return Executor(std::make_unique<FakeModel>(kLimits), std::move(options)); }

Response await_all(Executor& executor, RequestId id) {
  Response all;
  while (!all.finished()) {
    Response r = executor.await(id).value();
    all.token_ids.insert(all.token_ids.end(), r.token_ids.begin(), r.token_ids.end());
    all.finish = r.finish;
    all.error = r.error;
    all.timings = r.timings;
  }
  return all;
}

template <typename Call>
void expect_error(ErrorCode code, std::string_view part, Call call) {
  try {
    call();
    ADD_FAILURE() << "no error: " << part;
  } catch (const Error& e) {
    EXPECT_EQ(e.code, code) << e.what();
    EXPECT_THAT(e.what(), HasSubstr(std::string(part)));
  }
}

TEST(Executor, AwaitsStreamsAndTimes) {
  Executor executor = make();
  const RequestId whole = executor.enqueue({.token_ids = {1, 2, 3}, .max_tokens = 10});
  const RequestId pieces = executor.enqueue({.token_ids = {1, 2, 3}, .max_tokens = 10, .streaming = true});
  const Response a = executor.await(whole).value(), b = await_all(executor, pieces);
  EXPECT_EQ(a.token_ids, b.token_ids);
  EXPECT_EQ(a.token_ids.size(), 10);
  EXPECT_EQ(a.finish, FinishReason::kLength);
  EXPECT_EQ(a.num_prompt_tokens, 3);
  EXPECT_LE(a.timings.scheduled_s.value(), a.timings.first_token_s.value());
  EXPECT_LE(a.timings.first_token_s.value(), a.timings.finished_s.value());
  EXPECT_GE(a.timings.seconds_per_token.value(), 0);
  expect_error(ErrorCode::kNotFound, "unknown", [&] { executor.await(whole); });
}

TEST(Executor, AwaitGivesUpInTime) {
  std::counting_semaphore<> gate(0);
  Executor executor(std::make_unique<GatedModel>(gate), {});
  const RequestId id = executor.enqueue({.token_ids = {1}, .max_tokens = 1});
  EXPECT_FALSE(executor.await(id, 0ns));
  EXPECT_FALSE(executor.await(id, 1ms));
  EXPECT_TRUE(executor.await_any(1ms).empty());
  gate.release(100);
  EXPECT_TRUE(executor.await(id, std::chrono::nanoseconds::max()));
  EXPECT_TRUE(executor.await_any().empty()) << "nothing is left to wait for";
}

TEST(Executor, ASlowReaderGetsEverythingInOnePiece) {
  Executor executor = make();
  const OutputOptions output{.logprobs = 1, .prompt_logprobs = 1};
  const RequestId id = executor.enqueue({.token_ids = {1, 2, 3}, .max_tokens = 20, .streaming = true, .output = output});
  const RequestId other = executor.enqueue({.token_ids = {1, 2, 3}, .max_tokens = 40});
  executor.await(other);
  const Response response = executor.await(id).value();
  EXPECT_EQ(response.token_ids.size(), 20);
  EXPECT_EQ(response.logprobs.size(), 20);
  EXPECT_EQ(response.prompt_logprobs.size(), 2);
  EXPECT_TRUE(response.finished());
}

TEST(Executor, ABlockedCallbackDoesNotBlockTheLoop) {
  Executor executor = make();
  std::latch release(1), done(1);
  size_t tokens = 0;
  executor.enqueue({.token_ids = {1, 2}, .max_tokens = 30, .streaming = true}, [&](Response r) {
    release.wait();
    tokens += r.token_ids.size();
    if (r.finished()) done.count_down();
  });
  const RequestId id = executor.enqueue({.token_ids = {1, 2, 3}, .max_tokens = 50});
  EXPECT_TRUE(executor.await(id)->finished());
  release.count_down();
  done.wait();
  EXPECT_EQ(tokens, 30);
}

TEST(Executor, ACallbackMayThrowCancelAndEnqueue) {
  Executor executor = make();
  std::latch done(2);
  executor.enqueue({.token_ids = {1, 2}, .max_tokens = 60, .streaming = true}, [&](Response r) {
    if (r.finished()) {
      executor.enqueue({.token_ids = {3}, .max_tokens = 1}, [&](Response) { done.count_down(); });
      done.count_down();
    } else {
      executor.cancel(r.id);
    }
    if (r.finished()) throw 7;
    throw std::runtime_error("a careless callback");
  });
  done.wait();
}

TEST(Outbox, NothingOfADiscardedRequestIsHandedOut) {
  Outbox outbox;
  outbox.open(1, nullptr);
  outbox.open(2, nullptr);
  outbox.publish({{.id = 1, .token_ids = {5}}, {.id = 2, .token_ids = {6}}});
  outbox.discard(1);
  const std::vector<Response> responses = outbox.await_any(std::chrono::nanoseconds(0));
  ASSERT_EQ(responses.size(), 1u);
  EXPECT_EQ(responses[0].id, 2u);
}

TEST(Executor, DiscardedRequestsLeaveNothingBehind) {
  Executor executor = make();
  std::atomic<bool> called_after = false, discarded = false;
  std::latch first(1);
  const RequestId silent = executor.enqueue({.token_ids = {1}, .max_tokens = 40, .streaming = true}, [&](Response r) {
    called_after = called_after || discarded;
    if (!discarded.exchange(true)) executor.discard(r.id), first.count_down();
  });
  first.wait();
  const RequestId early = executor.enqueue({.token_ids = {1, 2}, .max_tokens = 60}),
                  late = executor.enqueue({.token_ids = {1, 2}, .max_tokens = 1});
  executor.discard(early);
  expect_error(ErrorCode::kNotFound, "", [&] { executor.await(early); });
  executor.shutdown(Shutdown::kDrain);
  executor.discard(late);
  for (RequestId id : {silent, early, late}) expect_error(ErrorCode::kNotFound, "", [&] { executor.await(id); });
  EXPECT_FALSE(called_after);
  EXPECT_TRUE(executor.await_any().empty());
}

TEST(Executor, RejectsBadRequestsAndSaysWhy) {
  Executor executor = make();
  const std::vector<int32_t> prompt = {1, 2, 3};
  const std::vector<std::pair<Request, std::string>> bad = {
      {{}, "the prompt is empty"},
      {{.token_ids = std::vector<int32_t>(64, 1)}, "the prompt has 64 tokens, but the context holds 64"},
      {{.token_ids = std::vector<int32_t>(65, 1), .max_tokens = 0}, "the prompt has 65 tokens"},
      {{.token_ids = {1, 40}}, "the prompt[1] is 40: token ids of this model are 0 to 39"},
      {{.token_ids = {-1}}, "the prompt[0] is -1"},
      {{.token_ids = prompt, .max_tokens = -1}, "max_tokens is -1"},
      {{.token_ids = prompt, .min_tokens = -1}, "min_tokens is -1"},
      {{.token_ids = prompt, .max_tokens = 3, .min_tokens = 4}, "min_tokens is 4, max_tokens is 3"},
      {{.token_ids = prompt, .sampling = {.temperature = -1}}, "temperature is -1"},
      {{.token_ids = prompt, .sampling = {.temperature = NAN}}, "temperature is nan"},
      {{.token_ids = prompt, .sampling = {.temperature = INFINITY}}, "temperature is inf"},
      {{.token_ids = prompt, .sampling = {.top_k = -1}}, "top_k is -1"},
      {{.token_ids = prompt, .sampling = {.top_p = 1.5f}}, "top_p is 1.5"},
      {{.token_ids = prompt, .sampling = {.top_p = NAN}}, "top_p is nan"},
      {{.token_ids = prompt, .sampling = {.min_p = -0.5f}}, "min_p is -0.5"},
      {{.token_ids = prompt, .sampling = {.repetition_penalty = 0}}, "repetition_penalty is 0"},
      {{.token_ids = prompt, .sampling = {.repetition_penalty = NAN}}, "repetition_penalty is nan"},
      {{.token_ids = prompt, .sampling = {.presence_penalty = INFINITY}}, "presence_penalty is inf"},
      {{.token_ids = prompt, .sampling = {.frequency_penalty = NAN}}, "frequency_penalty is nan"},
      {{.token_ids = prompt, .sampling = {.logit_bias = {{40, 1.f}}}}, "logit_bias: token"},
      {{.token_ids = prompt, .sampling = {.logit_bias = {{4, NAN}}}}, "logit_bias of token 4 is nan"},
      {{.token_ids = prompt, .sampling = {.vocab_limit = -1}}, "vocab_limit is -1"},
      {{.token_ids = prompt, .sampling = {.vocab_limit = 41}}, "vocab_limit is 41: must be between 0 and 40"},
      {{.token_ids = prompt, .output = {.logprobs = -1}}, "logprobs is -1"},
      {{.token_ids = prompt, .output = {.prompt_logprobs = 5000}}, "prompt_logprobs is 5000"},
      {{.token_ids = prompt, .stop_token_ids = {99}}, "stop_token_ids[0] is 99"},
      {{.token_ids = prompt, .bad_words = {{1}, {}}}, "bad_words[1] is empty"},
      {{.token_ids = prompt, .bad_words = {{-4}}}, "bad_words[0] is -4"},
  };
  for (const auto& [request, message] : bad) expect_error(ErrorCode::kInvalidArgument, message, [&] { executor.enqueue(request); });
  EXPECT_TRUE(executor.await(executor.enqueue({.token_ids = prompt, .max_tokens = 1}))) << "it still serves";
}

TEST(Executor, RejectsOptionsThatDoNotFit) {
  expect_error(ErrorCode::kInvalidArgument, "max_sequences is -1", [] { make({.max_sequences = -1}); });
  expect_error(ErrorCode::kInvalidArgument, "limits", [] { Executor(std::make_unique<FakeModel>(ModelLimits{}), {}); });
}

TEST(Executor, ABoundedQueueSaysWhenItIsFull) {
  std::counting_semaphore<> gate(0);
  Executor executor(std::make_unique<GatedModel>(gate), {.max_sequences = 1, .max_queued = 3});
  const Request request{.token_ids = {1, 2}, .max_tokens = 2};
  std::vector<RequestId> ids;
  int refused = 0;
  for (int i = 0; i < 20; ++i) {
    try {
      ids.push_back(executor.enqueue(request));
    } catch (const Error& e) {
      EXPECT_EQ(e.code, ErrorCode::kOutOfMemory);
      EXPECT_THAT(e.what(), HasSubstr("max_queued is 3"));
      ++refused;
    }
  }
  EXPECT_GE(refused, 16) << "three wait, and at most one has started";
  gate.release(1000);
  for (RequestId id : ids) EXPECT_EQ(executor.await(id)->finish, FinishReason::kLength);
  EXPECT_EQ(executor.stats().queued, 0);
  EXPECT_TRUE(executor.await(executor.enqueue(request)));
}

TEST(Executor, ShutdownDrainsOrCancelsAndThenRefuses) {
  for (const Shutdown how : {Shutdown::kDrain, Shutdown::kCancel}) {
    Executor executor = make({.max_sequences = 2});
    std::vector<RequestId> ids;
    std::atomic<int> called = 0;
    for (int i = 0; i < 10; ++i) {
      ids.push_back(executor.enqueue({.token_ids = {1, 2, i}, .max_tokens = 50}));
      executor.enqueue({.token_ids = {2, i}, .max_tokens = 50}, [&](Response r) { called += r.finished(); });
    }
    executor.shutdown(how);
    EXPECT_EQ(called, 10);
    for (RequestId id : ids) {
      const FinishReason finish = executor.await(id)->finish;
      EXPECT_TRUE(finish == FinishReason::kLength || how == Shutdown::kCancel);
    }
    expect_error(ErrorCode::kUnsupported, "shut down", [&] { executor.enqueue({.token_ids = {1}}); });
    executor.cancel(ids[0]);
    executor.shutdown();
    EXPECT_EQ(executor.stats().kv_blocks_used, 0);
  }
}

TEST(Executor, IsSafeToDestroyAndMoveWhileItWorks) {
  for (int i = 0; i < 50; ++i) {
    Executor executor = make();
    for (int k = 0; k < i % 5; ++k)
      executor.enqueue({.token_ids = {1, 2, k}, .streaming = k % 2 == 0}, k == 3 ? [](Response) {} : ResponseCallback());
    Executor moved = std::move(executor);
    if (i % 7 == 0) moved = make();
  }
}

// Any thread may do anything at any time; run this under the thread sanitizer.
TEST(Executor, SurvivesAStormFromManyThreads) {
  ModelLimits limits = kLimits;
  limits.num_blocks = 40;
  Executor executor(std::make_unique<FakeModel>(limits), {.policy = SchedulingPolicy::kMaxUtilization});
  constexpr int kThreads = 6, kRequests = 250;
  std::atomic<int> finished = 0, called = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      std::vector<RequestId> mine;
      for (int i = 0; i < kRequests; ++i) {
        Request request{
            .token_ids = {1, int32_t(random() % 3), int32_t(random() % 40)}, .max_tokens = random() % 20, .streaming = random() % 2 == 0};
        request.priority = random() % 3;
        if (random() % 3 == 0) {
          const RequestId id = executor.enqueue(request, [&](Response r) { called += r.finished(); });
          ++called;
          if (random() % 3 == 0) executor.cancel(id);
        } else {
          mine.push_back(executor.enqueue(request));
          ++called, ++called;
        }
        if (random() % 5 == 0) executor.cancel(1 + random() % (kThreads * kRequests));
        if (random() % 9 == 0) executor.stats();
        if (mine.size() > 20 || i + 1 == kRequests)
          while (!mine.empty()) {
            if (executor.await(mine.back())->finished()) {
              mine.pop_back();
              ++finished;
            }
          }
      }
    });
  for (std::thread& thread : threads) thread.join();
  executor.shutdown(Shutdown::kDrain);
  EXPECT_EQ(called, 2 * kThreads * kRequests) << "every callback has had its last response";
  EXPECT_GT(finished, kThreads * kRequests / 3);
  const ExecutorStats stats = executor.stats();
  EXPECT_EQ(stats.running + stats.queued + stats.kv_blocks_used, 0);
  EXPECT_EQ(stats.finished_requests, kThreads * kRequests);
}

TEST(Executor, ServesWithOtherWeightsOnceRefitReturns) {
  for (const Refit how : {Refit::kDrain, Refit::kRecompute}) {
    Executor executor = make(), other = make();
    const Request request{.token_ids = {1, 2, 3}, .max_tokens = 12};
    const std::vector<int32_t> before = executor.await(executor.enqueue(request))->token_ids;
    std::vector<RequestId> busy;
    for (int i = 0; i < 50; ++i) busy.push_back(executor.enqueue({.token_ids = {i % 40, 7}, .max_tokens = 40}));
    executor.refit(nullptr, how);
    other.refit(nullptr);
    const std::vector<int32_t> after = executor.await(executor.enqueue(request))->token_ids;
    EXPECT_NE(after, before);
    EXPECT_EQ(after, other.await(other.enqueue(request))->token_ids) << "as with the new weights alone";
    for (RequestId id : busy) EXPECT_EQ(executor.await(id)->finish, FinishReason::kLength);
    executor.shutdown(Shutdown::kDrain);
    expect_error(ErrorCode::kUnsupported, "shut down", [&] { executor.refit(nullptr); });
  }
}

TEST(Executor, ThousandsOfRequestsAtOnce) {
  Executor executor = make();
  std::set<RequestId> left;
  for (int i = 0; i < 5000; ++i) left.insert(executor.enqueue({.token_ids = {1, i % 40, 7}, .max_tokens = 3}));
  while (!left.empty())
    for (const Response& r : executor.await_any()) EXPECT_EQ(left.erase(r.id), r.finished() ? 1 : 0);
}

// Rows of a step are sampled by several threads.
class ThreadedModel : public FakeModel {
 public:
  ThreadedModel() : FakeModel(kLimits) {}
  ThreadPool* threads() override { return &pool_; }

 private:
  ThreadPool pool_{2};
};

TEST(Executor, SharesSamplingAmongThreads) {
  Executor alone = make(), threaded(std::make_unique<ThreadedModel>(), {});
  std::vector<std::pair<RequestId, RequestId>> ids;
  for (int i = 0; i < 40; ++i) {
    const Request request{.token_ids = {i}, .max_tokens = 10, .sampling = {.temperature = 1, .top_p = 0.9f, .seed = i}};
    ids.emplace_back(alone.enqueue(request), threaded.enqueue(request));
  }
  for (auto [a, b] : ids) EXPECT_EQ(alone.await(a)->token_ids, threaded.await(b)->token_ids);
}

}  // namespace
}  // namespace headrace::runtime
