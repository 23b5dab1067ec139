#include "runtime/sampling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "runtime/philox.h"

namespace headrace::runtime {
namespace {

constexpr float kInfinity = INFINITY;

std::vector<float> random_row(size_t size, unsigned seed, float spread = 3) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, spread);
  std::vector<float> row(size);
  for (float& x : row) x = normal(random);
  return row;
}

Request request_with(SamplingParams sampling, std::vector<std::vector<int32_t>> bad_words = {}, int min_tokens = 0) {
  Request request;
  request.sampling = std::move(sampling);
  request.bad_words = std::move(bad_words);
  request.min_tokens = min_tokens;
  return request;
}

// ---------------------------------------------------------------------------------------------------------------- an oracle

// Logits after all processors, the obvious way: dense, in double, with sorting.
std::vector<double> processed(std::span<const float> logits, const SamplingTask& task) {
  const SamplingParams& p = task.request->sampling;
  std::vector<double> x(logits.begin(), logits.end());
  for (int v = 0; v < int(x.size()); ++v) {
    const auto in_all = std::ranges::count(task.tokens, v), in_output = std::ranges::count(task.tokens.subspan(task.num_prompt), v);
    if (in_all > 0) x[v] = x[v] > 0 ? x[v] / p.repetition_penalty : x[v] * p.repetition_penalty;
    x[v] -= p.presence_penalty * (in_output > 0) + p.frequency_penalty * double(in_output);
    for (const auto& [token, bias] : p.logit_bias) x[v] += token == v ? bias : 0;
    if (task.num_output() < task.request->min_tokens && std::ranges::count(task.end_tokens, v)) x[v] = -kInfinity;
    for (const auto& word : task.request->bad_words) {
      const size_t before = word.size() - 1;
      if (word.back() == v && task.tokens.size() >= before && std::equal(word.begin(), word.end() - 1, task.tokens.end() - before))
        x[v] = -kInfinity;
    }
  }
  return x;
}

// The probability of every token.
std::vector<double> distribution(std::span<const float> logits, const SamplingTask& task) {
  const SamplingParams& p = task.request->sampling;
  const std::vector<double> x = processed(logits, task);
  std::vector<int> order(x.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return x[a] > x[b]; });
  std::vector<double> w(x.size());
  for (size_t i = 0; i < order.size(); ++i)
    if (p.top_k == 0 || int(i) < p.top_k || x[order[i]] == x[order[size_t(p.top_k) - 1]])
      w[order[i]] = std::exp((x[order[i]] - x[order[0]]) / p.temperature);
  const double total = std::accumulate(w.begin(), w.end(), 0.);
  double before = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const double weight = w[order[i]];
    if (i > 0 && before >= p.top_p * total) w[order[i]] = 0;
    before += weight;
  }
  for (double& weight : w)
    if (weight < p.min_p) weight = 0;
  const double left = std::accumulate(w.begin(), w.end(), 0.);
  for (double& weight : w) weight /= left;
  return w;
}

struct Case {
  Request request;
  TokenHistory history;
  std::vector<int32_t> tokens, end_tokens;
  int num_prompt = 0;

  Case(Request r, std::vector<int32_t> prompt, std::vector<int32_t> output)
      : request(std::move(r)), tokens(prompt), num_prompt(int(prompt.size())) {
    history.add_prompt(prompt);
    for (int32_t token : output) {
      history.add_output(token);
      tokens.push_back(token);
    }
  }
  SamplingTask task(uint64_t seed = 1) const { return {&request, &history, tokens, num_prompt, end_tokens, seed}; }
};

// The distribution of many draws is the wanted one: chi-square over the tokens that are expected five times or more.
void expect_drawn_from(const std::vector<double>& wanted, const std::map<int32_t, int>& drawn, int draws) {
  double chi_square = 0, rest_wanted = 0, rest_drawn = 0;
  int cells = 0;
  for (size_t v = 0; v < wanted.size(); ++v) {
    const double expectation = wanted[v] * draws, count = drawn.contains(int(v)) ? drawn.at(int(v)) : 0;
    EXPECT_TRUE(wanted[v] > 0 || count == 0) << "token " << v << " is excluded";
    if (expectation < 5) {
      rest_wanted += expectation;
      rest_drawn += count;
      continue;
    }
    chi_square += (count - expectation) * (count - expectation) / expectation;
    ++cells;
  }
  if (rest_wanted >= 5) {
    chi_square += (rest_drawn - rest_wanted) * (rest_drawn - rest_wanted) / rest_wanted;
    ++cells;
  }
  const double freedom = cells - 1;
  EXPECT_LT(chi_square, freedom + 5 * std::sqrt(2 * freedom) + 5);
}

TEST(Sampling, DrawsFromTheDistributionThatTheOracleSays) {
  const std::vector<SamplingParams> all = {
      {.temperature = 1},
      {.temperature = 0.5f},
      {.temperature = 3},
      {.temperature = 1, .top_k = 5},
      {.temperature = 1, .top_k = 1000},
      {.temperature = 1, .top_p = 0.9f},
      {.temperature = 2, .top_p = 0.5f},
      {.temperature = 1, .top_p = 1e-6f},
      {.temperature = 1, .min_p = 0.1f},
      {.temperature = 1, .min_p = 1},
      {.temperature = 1.5f, .top_k = 20, .top_p = 0.8f},
      {.temperature = 1.5f, .top_k = 40, .top_p = 0.95f, .min_p = 0.05f},
      {.temperature = 1.5f, .top_p = 0.95f, .min_p = 0.05f},
      {.temperature = 1,
       .repetition_penalty = 1.5f,
       .presence_penalty = 0.7f,
       .frequency_penalty = 0.3f,
       .logit_bias = {{3, 2.f}, {4, -kInfinity}, {3, 1.f}}},
  };
  unsigned seed = 0;
  for (const SamplingParams& params : all)
    for (int vocab : {50, 700}) {
      const std::vector<float> row = random_row(vocab, ++seed);
      const Case c(request_with(params, {{6}, {1, 2}, {2, 9}}, 9), {1, 2, 3, 30}, {8, 8, 2});
      const std::vector<double> wanted = distribution(row, c.task());
      Sampler sampler;
      std::map<int32_t, int> drawn;
      const int draws = 20000;
      for (int i = 0; i < draws; ++i) ++drawn[sampler.sample(row, c.task(uint64_t(i) * 77 + 5))];
      SCOPED_TRACE(testing::Message() << "case " << (seed - 1) / 2 << " vocabulary " << vocab);
      expect_drawn_from(wanted, drawn, draws);
    }
}

TEST(Sampling, AFlatRowLosesNoTokenToTopP) {
  const std::vector<float> row(1000, 2.5f);
  const Case c(request_with({.temperature = 1, .top_p = 0.25f}), {1}, {});
  Sampler sampler;
  std::set<int32_t> drawn;
  for (int i = 0; i < 5000; ++i) drawn.insert(sampler.sample(row, c.task(i)));
  EXPECT_EQ(drawn.size(), 250) << "the lowest ids among equals";
  EXPECT_EQ(*drawn.rbegin(), 249);
}

TEST(Sampling, TheEqualsOfTheLastOfTopKStay) {
  std::vector<float> row(700, -1.0f);
  row[3] = 2, row[9] = row[10] = row[640] = 1;
  const Case c(request_with({.temperature = 1, .top_k = 2}), {0}, {});
  Sampler sampler;
  std::map<int32_t, int> drawn;
  for (uint64_t seed = 0; seed < 400; ++seed) ++drawn[sampler.sample(row, c.task(seed))];
  EXPECT_THAT(drawn, testing::ElementsAre(testing::Key(3), testing::Key(9), testing::Key(10), testing::Key(640)));
}

TEST(Sampling, GreedyTakesTheLowestIdAmongEquals) {
  std::vector<float> row(100, 0.f);
  row[41] = row[77] = 3;
  Sampler sampler;
  for (const SamplingParams& p : std::vector<SamplingParams>{{},
                                                             {.temperature = 1e-6f},
                                                             {.temperature = 1, .top_k = 1},
                                                             {.temperature = 1, .top_p = 0},
                                                             {.temperature = 1, .min_p = 1, .seed = 3}}) {
    const Case c(request_with(p), {1}, {});
    const int32_t token = sampler.sample(row, c.task());
    EXPECT_TRUE(token == 41 || (p.min_p == 1 && token == 77)) << token;
  }
}

TEST(Sampling, TinyAndHugeTemperaturesAndLogitsAreHarmless) {
  for (float spread : {1e-30f, 1.f, 1e30f}) {
    std::vector<float> row = random_row(300, 4, spread);
    row[7] = -kInfinity;
    for (float temperature : {1e-5f, 1e-3f, 1e6f, 1e30f})
      for (const SamplingParams& p : std::vector<SamplingParams>{
               {.temperature = temperature}, {.temperature = temperature, .top_k = 9}, {.temperature = temperature, .top_p = 0.9f}}) {
        const Case c(request_with(p), {1}, {});
        Sampler sampler;
        for (int i = 0; i < 50; ++i) {
          const int32_t token = sampler.sample(row, c.task(i));
          EXPECT_TRUE(token >= 0 && token < 300 && token != 7) << token;
        }
      }
  }
}

TEST(Sampling, PenaltiesAndBiasEqualTheDenseOracle) {
  std::mt19937 random(3);
  Sampler sampler;
  for (int round = 0; round < 2000; ++round) {
    const auto some = [&](int most) {
      std::vector<int32_t> tokens(random() % (most + 1));
      for (int32_t& t : tokens) t = random() % 60;
      return tokens;
    };
    Request request = request_with({}, {}, int(random() % 10));
    request.sampling.repetition_penalty = 0.5f + float(random() % 20) / 10;
    request.sampling.presence_penalty = float(random() % 5) - 2;
    request.sampling.frequency_penalty = float(random() % 5) / 2 - 1;
    for (int32_t t : some(5)) request.sampling.logit_bias.push_back({t, float(random() % 7) - 3});
    for (int i = 0; i < 3; ++i)
      if (auto word = some(2); !word.empty()) request.bad_words.push_back(word);
    Case c(request, some(20), some(20));
    if (!c.tokens.empty()) c.request.bad_words.push_back({c.tokens.back(), 5});
    c.end_tokens = some(4);
    const std::vector<float> row = random_row(60, round);
    const std::vector<double> wanted = processed(row, c.task());
    const int32_t token = sampler.sample(row, c.task());
    EXPECT_NEAR(wanted[token], *std::ranges::max_element(wanted), 1e-4) << round;
  }
}

TEST(Sampling, DependsOnSeedAndPositionOnly) {
  const std::vector<float> row = random_row(500, 1);
  const Request hot = request_with({.temperature = 1});
  const Case c(hot, {1, 2}, {3}), other(hot, {4, 5, 6}, {}), later(hot, {1, 2}, {3, 4});
  Sampler sampler, fresh;
  int differ = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const int32_t token = sampler.sample(row, c.task(seed));
    EXPECT_EQ(token, fresh.sample(row, other.task(seed)));
    differ += token != sampler.sample(row, later.task(seed));
  }
  EXPECT_GT(differ, 80);
}

TEST(Sampling, NeverSamplesBeyondTheVocabularyLimit) {
  std::vector<float> row(64, 0.f);
  for (int v = 50; v < 64; ++v) row[v] = v == 63 ? NAN : 100.f;
  Sampler sampler;
  for (SamplingParams p : std::vector<SamplingParams>{{},
                                                      {.temperature = 1},
                                                      {.temperature = 1, .top_k = 60},
                                                      {.temperature = 1, .top_p = 0.99f},
                                                      {.repetition_penalty = 2, .logit_bias = {{55, 5.f}}}}) {
    p.vocab_limit = 50;
    const Case c(request_with(p, {{60}}), {1, 52}, {});
    for (int i = 0; i < 200; ++i) EXPECT_LT(sampler.sample(row, c.task(i)), 50);
  }
}

TEST(Sampling, ErrorsNameWhatIsWrong) {
  const auto message = [](const std::vector<float>& row, const Request& request) {
    try {
      const Case c(request, {1, 2, 3}, {});
      Sampler().sample(row, c.task());
      return std::string("no error");
    } catch (const Error& e) {
      return std::string(e.what());
    }
  };
  std::vector<float> row(20, 1.f);
  row[4] = NAN;
  EXPECT_THAT(message(row, {}), testing::HasSubstr("position 2 are not finite: nan for token 4"));
  EXPECT_THAT(message(row, request_with({.repetition_penalty = 2})), testing::HasSubstr("nan for token 4"));
  row[4] = kInfinity;
  EXPECT_THAT(message(row, {}), testing::HasSubstr("inf for token 4"));
  EXPECT_THAT(message(std::vector<float>(20, -kInfinity), {}), testing::HasSubstr("all -infinity"));
  EXPECT_THAT(message({1, 2}, request_with({}, {{0}, {1}})), testing::HasSubstr("every token is forbidden"));
  EXPECT_THAT(message({1, 3e38f}, request_with({.logit_bias = {{1, 3e38f}}})), testing::HasSubstr("use smaller values"));
}

TEST(Logprobs, AreTheLogSoftmaxOfTheRawRow) {
  const std::vector<float> row = random_row(1000, 9);
  double sum = 0;
  for (float x : row) sum += std::exp(double(x));
  const TokenLogprobs result = logprobs(row, 17, 5, 990);
  EXPECT_NEAR(result.logprob, row[17] - std::log(sum), 1e-5);
  ASSERT_EQ(result.top.size(), 5);
  std::vector<float> sorted(row.begin(), row.begin() + 990);
  std::ranges::sort(sorted, std::greater<>());
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(row[result.top[i].token], sorted[i]);
    EXPECT_NEAR(result.top[i].logprob, sorted[i] - std::log(sum), 1e-5);
  }
  EXPECT_TRUE(logprobs(row, 17, 0, 0).top.empty());
  EXPECT_EQ(logprobs(row, 17, 1000, 0).top.size(), 1000) << "without a limit";
}

TEST(Philox, GivesThePublishedNumbers) {  // Random123's known answers
  using Words = std::array<uint32_t, 4>;
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}), (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

}  // namespace
}  // namespace headrace::runtime
