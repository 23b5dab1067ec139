#include "cli/chat_sampling.h"

#include <gmock/gmock.h>

namespace headrace::cli {
namespace {

using testing::HasSubstr;

std::string sampling_of(const Json& generation, SamplingParams p = sampling_not_given()) {
  complete_sampling(p, generation);
  return describe(p);
}

TEST(ChatSampling, TheModelDecidesAndWhereItSaysNothingAnswersAreSampled) {
  EXPECT_EQ(sampling_of(nullptr), "temperature 0.7, top-p 0.95, min-p 0.05");
  EXPECT_EQ(sampling_of({{"eos_token_ids", {2}}}), "temperature 0.7, top-p 0.95, min-p 0.05");
  EXPECT_EQ(sampling_of({{"temperature", 0.3}}), "temperature 0.3, top-p 0.95, min-p 0.05");
  EXPECT_EQ(sampling_of({{"do_sample", false}, {"temperature", 0.3}, {"top_k", 50}}), "greedy");
  EXPECT_EQ(sampling_of({{"do_sample", true}}), "temperature 1");
  EXPECT_EQ(sampling_of({{"do_sample", true}, {"temperature", 0.6}, {"top_k", 20}, {"top_p", 0.8}, {"repetition_penalty", 1.1}}),
            "temperature 0.6, top-k 20, top-p 0.8, repetition-penalty 1.1");
}

TEST(ChatSampling, TheCommandLineWinsValueByValue) {
  const Json model = {{"do_sample", true}, {"temperature", 0.6}, {"top_k", 20}, {"top_p", 0.8}};
  SamplingParams p = sampling_not_given();
  p.top_p = 1, p.top_k = 0;
  EXPECT_EQ(sampling_of(model, p), "temperature 0.6") << "values that are defaults elsewhere";
  p = sampling_not_given();
  p.temperature = 0;
  EXPECT_EQ(sampling_of(model, p), "greedy");
  p.temperature = 0.5f;
  EXPECT_EQ(sampling_of({{"do_sample", false}}, p), "temperature 0.5");
}

TEST(ChatSampling, AModelsNonsenseIsAnError) {
  for (const Json& generation : {Json{{"top_k", -2}}, Json{{"top_k", "many"}}, Json{{"do_sample", "yes"}}, Json{{"temperature", "hot"}}})
    EXPECT_THROW(sampling_of(generation), Error) << generation;
}

TEST(Set, ChangesOneSettingAndShowsIt) {
  GenerateOptions o;
  EXPECT_THAT(change_setting(o, "temperature 0.5"), HasSubstr("temperature         0.5\n"));
  EXPECT_EQ(o.sampling.temperature, 0.5f);
  change_setting(o, "top-k=7");
  EXPECT_EQ(o.sampling.top_k, 7);
  change_setting(o, "seed 18446744073709551615");
  EXPECT_EQ(o.sampling.seed, UINT64_MAX);
  change_setting(o, "seed random");
  EXPECT_EQ(o.sampling.seed, std::nullopt);
  change_setting(o, "max-tokens 12");
  EXPECT_EQ(o.max_tokens, 12);
  EXPECT_THAT(change_setting(o, ""), HasSubstr("max-tokens          12\n"));
  change_setting(o, "max-tokens none");
  EXPECT_EQ(o.max_tokens, std::nullopt);
}

TEST(Set, RefusesWhatItDoesNotKnowAndChangesNothingThen) {
  struct {
    const char *words, *message;
  } const cases[] = {{"temprature 1", "did you mean 'temperature'?"},
                     {"temperature", "'' is not a number"},
                     {"temperature -1", "at least 0"},
                     {"temperature nan", "not in range"},
                     {"temperature inf", "not in range"},
                     {"top-p 1.5", "0 to 1"},
                     {"top-k 2.5", "whole number"},
                     {"repetition-penalty 0", "0.01 to 100"},
                     {"max-tokens 0", "at least 1"},
                     {"seed -1", "whole number"}};
  for (const auto& c : cases) {
    GenerateOptions o;
    const std::string before = change_setting(o, "");
    try {
      change_setting(o, c.words);
      ADD_FAILURE() << c.words;
    } catch (const Error& e) {
      EXPECT_THAT(e.what(), HasSubstr(c.message)) << c.words;
    }
    EXPECT_EQ(change_setting(o, ""), before);
  }
}

}  // namespace
}  // namespace headrace::cli
