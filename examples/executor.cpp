// The Executor: many requests of token ids on one model, in flight together.
//   example_executor MODEL [--prompt-ids 1,2,3] [-n 16]
#include "headrace/executor.h"

#include <cstdio>
#include <cstring>
#include <future>
#include <map>
#include <numeric>
#include <sstream>

using namespace headrace;

static std::vector<int32_t> parse_ids(const std::string& text) {
  std::vector<int32_t> ids;
  std::istringstream in(text);
  for (std::string id; std::getline(in, id, ',');) ids.push_back(std::stoi(id));
  return ids;
}

static void print(const char* what, const Response& r) {
  std::printf("%-9s %3llu:", what, static_cast<unsigned long long>(r.id));
  for (int32_t token : r.token_ids) std::printf(" %d", token);
  if (r.finished()) std::printf("  [%s]%s", std::string(name(r.finish)).c_str(), r.error.c_str());
  std::printf("\n");
}

static void run(const std::string& model, const std::vector<int32_t>& prompt, int max_tokens) {
  const std::unique_ptr<Executor> executor = load_executor(model);

  // One request, awaited as a whole. Greedy unless a temperature is set.
  const RequestId whole = executor->enqueue({.token_ids = prompt, .max_tokens = max_tokens, .ignore_eos = true});
  print("whole", executor->await(whole).value());

  // Streaming: a response whenever there are new tokens. The prompt is known by now, so its first block of 16 tokens comes from the prefix
  // cache.
  const RequestId stream = executor->enqueue({.token_ids = prompt, .max_tokens = max_tokens, .streaming = true, .ignore_eos = true});
  for (Response r; !r.finished();) print("streamed", r = executor->await(stream).value());

  // Eight at once with different seeds: they share every step, and each gives what it would give alone.
  std::map<RequestId, uint64_t> seeds;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    const SamplingParams sampling{.temperature = 0.8f, .top_p = 0.95f, .seed = seed};
    seeds[executor->enqueue({.token_ids = prompt, .max_tokens = max_tokens, .sampling = sampling})] = seed;
  }
  for (size_t finished = 0; finished < seeds.size();)
    for (const Response& r : executor->await_any()) finished += r.finished(), print("sampled", r);

  // Callbacks run on a thread of their own, and may cancel.
  std::promise<Response> last;
  executor->enqueue({.token_ids = prompt, .streaming = true, .ignore_eos = true}, [&](Response r) {
    if (r.finished()) last.set_value(std::move(r));
    else executor->cancel(r.id);
  });
  print("callback", last.get_future().get());

  // Log-probabilities, of the prompt too.
  const RequestId scored = executor->enqueue({.token_ids = prompt, .max_tokens = 1, .output = {.logprobs = 3, .prompt_logprobs = 0}});
  const Response r = executor->await(scored).value();
  for (size_t i = 0; i < r.prompt_logprobs.size(); ++i) std::printf("log p(%d) = %.3f\n", prompt[i + 1], r.prompt_logprobs[i].logprob);
  for (const TokenLogprob& t : r.logprobs.at(0).top) std::printf("next: log p(%d) = %.3f\n", t.token, t.logprob);

  // A bad request is an Error at once, and nothing else is affected.
  try {
    executor->enqueue({.token_ids = prompt, .sampling = {.temperature = -1}});
  } catch (const Error& e) {
    std::printf("refused: %s\n", e.what());
  }

  const ExecutorStats stats = executor->stats();
  std::printf("%lld steps, %lld tokens generated, %lld of the prompts' computed and %lld from the prefix cache\n",
              static_cast<long long>(stats.steps), static_cast<long long>(stats.generated_tokens),
              static_cast<long long>(stats.prompt_tokens), static_cast<long long>(stats.cached_prompt_tokens));
}

int main(int argc, char** argv) try {
  if (argc < 2) return std::fprintf(stderr, "usage: example_executor MODEL [--prompt-ids 1,2,3] [-n 16]\n"), 2;
  std::vector<int32_t> prompt(20);  // long enough for the prefix cache, which knows whole blocks of 16 tokens
  std::iota(prompt.begin(), prompt.end(), 1);
  int max_tokens = 16;
  for (int i = 2; i + 1 < argc; i += 2) {
    if (!std::strcmp(argv[i], "--prompt-ids")) prompt = parse_ids(argv[i + 1]);
    if (!std::strcmp(argv[i], "-n")) max_tokens = std::stoi(argv[i + 1]);
  }
  run(argv[1], prompt, max_tokens);
} catch (const std::exception& e) {  // an Error, or what std::stoi throws
  return std::fprintf(stderr, "%s\n", e.what()), 1;
}
