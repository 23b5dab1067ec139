// Golden models through the loop: paged cache, batching, sampling. Greedy and penalised tokens are exact, alone and among others,
// with one thread and two, whole prompts and chunks, on every instruction set of this machine.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <thread>

#include "api/load.h"
#include "core/json.h"
#include "core/mapped_file.h"
#include "device/cpu/cpu_features.h"
#include "test_data.h"

namespace headrace {
namespace {

// The environment for the time of a test.
class WithIsa {
 public:
  explicit WithIsa(CpuIsa isa) {
    const char* before = std::getenv("HEADRACE_CPU_ISA");
    had_ = before != nullptr;
    if (had_) before_ = before;
    setenv("HEADRACE_CPU_ISA", std::string(name(isa)).c_str(), 1);
  }
  ~WithIsa() {
    if (had_) setenv("HEADRACE_CPU_ISA", before_.c_str(), 1);
    else unsetenv("HEADRACE_CPU_ISA");
  }

 private:
  bool had_ = false;
  std::string before_;
};

Request greedy(const std::vector<int32_t>& prompt, int max_tokens, float penalty = 1) {
  Request request{.token_ids = prompt, .max_tokens = max_tokens};
  request.ignore_eos = true;
  request.sampling.repetition_penalty = penalty;
  return request;
}

std::vector<int32_t> finish(Executor& executor, RequestId id) {
  const std::optional<Response> response = executor.await(id);
  EXPECT_EQ(response->finish, FinishReason::kLength) << response->error;
  return response->token_ids;
}

void expect_golden_tokens(const GoldenModel& model, const LoadOptions& options) {
  const std::unique_ptr<Executor> executor = load_executor(model.path, options);
  const Json expected = read_json_file(model.expected + ".json");
  for (const Json& p : expected.at("prompts")) {
    const auto prompt = p.at("ids").get<std::vector<int32_t>>();
    const auto want = p.at("greedy").at("ids").get<std::vector<int32_t>>();
    EXPECT_EQ(finish(*executor, executor->enqueue(greedy(prompt, int(want.size())))), want) << model.name;
    const Json& penalised = p.at("greedy_repetition_penalty");
    const auto want_penalised = penalised.at("ids").get<std::vector<int32_t>>();
    EXPECT_EQ(finish(*executor, executor->enqueue(greedy(prompt, int(want_penalised.size()), penalised.at("penalty").get<float>()))),
              want_penalised)
        << model.name;
  }
}

LoadOptions exact(int threads) {
  LoadOptions options;
  options.dtype = "fp32";
  options.num_threads = threads;
  return options;
}

TEST(Golden, GreedyAndPenalisedTokensAreExact) {
  for (const GoldenModel& model : golden_decoders())
    for (int threads : {1, 2}) expect_golden_tokens(model, exact(threads));
}

TEST(Golden, TokensAreTheSameInChunksOfOddSizes) {
  for (const GoldenModel& model : golden_decoders()) {
    LoadOptions options = exact(2);
    options.executor.max_step_tokens = 7;
    expect_golden_tokens(model, options);
  }
}

TEST(Golden, TokensAreTheSameInABatchOfEight) {
  for (const GoldenModel& model : golden_decoders()) {
    const std::unique_ptr<Executor> executor = load_executor(model.path, exact(2));
    const Json expected = read_json_file(model.expected + ".json");
    std::vector<std::pair<RequestId, std::vector<int32_t>>> running;
    for (int i = 0; i < 8; ++i) {
      const Json& p = expected.at("prompts")[size_t(i) % expected.at("prompts").size()];
      const auto want = p.at("greedy").at("ids").get<std::vector<int32_t>>();
      running.emplace_back(executor->enqueue(greedy(p.at("ids").get<std::vector<int32_t>>(), int(want.size()))), want);
    }
    for (const auto& [id, want] : running) EXPECT_EQ(finish(*executor, id), want) << model.name;
  }
}

// Threads come and go with requests, some of which they give up, while long ones fill the cache so that sequences are stopped and
// computed again.
TEST(Golden, TokensAreTheSameInAStorm) {
  const GoldenModel model = golden_decoders()[1];
  LoadOptions options = exact(2);
  options.executor.policy = SchedulingPolicy::kMaxUtilization;
  const std::unique_ptr<Executor> executor = load_executor(model.path, options);
  const Json expected = read_json_file(model.expected + ".json");
  const int longest = executor->max_context() - 1;
  std::vector<RequestId> fillers;
  for (int i = 0; i < executor->stats().kv_blocks * 16 / longest + 8; ++i) {
    Request filler = greedy({1 + i}, longest);
    filler.sampling.temperature = 1, filler.sampling.seed = uint64_t(i), filler.priority = -1;
    fillers.push_back(executor->enqueue(filler));
  }
  const auto come_and_go = [&](uint32_t seed) {
    std::minstd_rand random(seed + 1);
    for (int round = 0; round < 12; ++round) {
      const Json& p = expected.at("prompts")[random() % expected.at("prompts").size()];
      const auto want = p.at("greedy").at("ids").get<std::vector<int32_t>>();
      Request request = greedy(p.at("ids").get<std::vector<int32_t>>(), int(want.size()));
      request.priority = int(random() % 3) - 1;
      const RequestId id = executor->enqueue(request);
      switch (random() % 4) {
        case 0: executor->discard(id); break;
        case 1:
          executor->cancel(id);
          EXPECT_TRUE(executor->await(id)->finished());
          break;
        default: EXPECT_EQ(finish(*executor, id), want);
      }
    }
  };
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 4; ++t) threads.emplace_back(come_and_go, t);
  for (std::thread& thread : threads) thread.join();
  while (executor->stats().preemptions == 0 && executor->stats().running > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_GT(executor->stats().preemptions, 0) << "the cache was never full";
  for (const RequestId id : fillers) executor->cancel(id);
  for (const RequestId id : fillers) EXPECT_TRUE(executor->await(id)->finished());
  EXPECT_EQ(executor->stats().kv_blocks_used, 0);
}

TEST(Golden, TokensAreExactOnEveryInstructionSet) {
  for (CpuIsa isa : runnable_cpu_isas()) {
    SCOPED_TRACE(name(isa));
    const WithIsa with(isa);
    for (const GoldenModel& model : golden_decoders())
      if (isa != CpuIsa::kBaseline || model.name == "llama_gqa" || model.name == "qwen3") expect_golden_tokens(model, exact(2));
  }
}

// With the arithmetic that users get by default: weights are fp32, so nothing is rounded and the text is exact too.
TEST(Stories, TellTheExpectedStoryOnEveryInstructionSetAloneAndAmongNeighbours) {
  HEADRACE_NEED_SHARED_DATA();
  const std::string folder = shared_data() + "/models/stories260k";
  const Json expected = read_json_file(folder + "/expected.json");
  const auto prompt = expected.at("story").at("prompt").get<std::vector<int32_t>>();
  const auto want = expected.at("story").at("ids").get<std::vector<int32_t>>();
  for (CpuIsa isa : runnable_cpu_isas()) {
    SCOPED_TRACE(name(isa));
    const WithIsa with(isa);
    for (const char* model : {"", "/stories260K-f32-v1.gguf"})
      for (int threads : {1, 2}) {
        LoadOptions options;
        options.num_threads = threads;
        const std::unique_ptr<Executor> executor = load_executor(folder + model, options);
        EXPECT_EQ(finish(*executor, executor->enqueue(greedy(prompt, int(want.size())))), want);
        std::vector<RequestId> ids;
        for (int i = 0; i < 8; ++i)
          ids.push_back(executor->enqueue(i == 3 ? greedy(prompt, int(want.size())) : greedy({1, 300 + i, 270}, 40 + 30 * i)));
        for (int i = 0; i < 8; ++i) {
          const std::vector<int32_t> got = finish(*executor, ids[size_t(i)]);
          if (i == 3) {
            EXPECT_EQ(got, want) << "among neighbours";
          }
        }
      }
  }
}

}  // namespace
}  // namespace headrace
