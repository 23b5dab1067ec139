#include "text/pre_tokenizer.h"

#include <gmock/gmock.h>

#include "core/error.h"
#include "text/pre_tokenizer_cut.h"
#include "text/pre_tokenizer_names.h"
#include "text/unicode.h"

namespace headrace {
namespace {

using test::cut;
using ::testing::ElementsAre;

TEST(PreTokenizer, SplitsInEveryWay) {
  const auto behave = [](SplitBehavior behavior, SplitOn on = SplitOn::kMatches) {
    return cut(split(find_text("-"), behavior, on), "a--b-");
  };
  EXPECT_THAT(behave(SplitBehavior::kIsolated), ElementsAre("a", "-", "-", "b", "-"));
  EXPECT_THAT(behave(SplitBehavior::kRemoved), ElementsAre("a", "b"));
  EXPECT_THAT(behave(SplitBehavior::kContiguous), ElementsAre("a", "--", "b", "-"));
  EXPECT_THAT(behave(SplitBehavior::kMergedWithPrevious), ElementsAre("a-", "-", "b-"));
  EXPECT_THAT(behave(SplitBehavior::kMergedWithNext), ElementsAre("a", "-", "-b", "-"));
  EXPECT_THAT(behave(SplitBehavior::kRemoved, SplitOn::kGaps), ElementsAre("-", "-", "-"));
}

TEST(PreTokenizer, GroupsDigitsFromTheRight) {
  EXPECT_THAT(cut(split(find_digit_groups(), SplitBehavior::kIsolated), "1234567 89a12"), ElementsAre("1", "234", "567", " 89a", "12"));
  EXPECT_THAT(cut(split(find_digit_group_starts(), SplitBehavior::kIsolated), "12345"), ElementsAre("12", "345"));
  EXPECT_THAT(cut(split(find_trailing_whitespace(), SplitBehavior::kIsolated), "a  b \n c  "), ElementsAre("a  b", " ", "\n c", "  "));
}

TEST(PreTokenizer, FindsByHandWhatThePatternsFind) {
  const std::pair<Finder, std::string> pairs[] = {{find_digit_groups(), R"((?:)\d{1,3}(?=(?:\d{3})*\b))"},
                                                  {find_digit_group_starts(), R"((?:)(?=(\d{3})+(?!\d)))"},
                                                  {find_trailing_whitespace(), R"((?:)\s+$)"}};
  for (const auto& [by_hand, pattern] : pairs) {
    const Regex regex(pattern, "test");
    uint32_t state = 1;
    for (int round = 0; round < 2000; ++round) {
      std::string text;
      for (int i = 0; i < 12; ++i) text += "1 2\na3 ٣"[(state = state * 1664525 + 1013904223) >> 24 & 7];
      if (!is_ascii(text)) continue;
      std::vector<Match> expected, found;
      regex.find_all(text, expected);
      by_hand(text, found);
      ASSERT_EQ(found.size(), expected.size()) << pattern << printable(text);
      for (size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i].begin, expected[i].begin) << pattern << printable(text);
        EXPECT_EQ(found[i].end, expected[i].end) << pattern << printable(text);
      }
    }
  }
}

TEST(PreTokenizer, EveryNameOfATableCompiles) {
  int count = 0;
  for (const char* name : {"default",    "gpt-2",      "llama-bpe", "minicpm5",     "jais-2",         "qwen2",       "qwen35",   "ufakzeka",
                           "laguna",     "starcoder",  "falcon",    "deepseek-llm", "deepseek-coder", "deepseek-v3", "spark2_5", "youtu",
                           "bloom",      "viking",     "tekken",    "chameleon",    "gpt-4o",         "tiny_aya",    "kimi-k2",  "superbpe",
                           "bailingmoe", "seed-coder", "afmoe",     "exaone-moe",   "gemma4",         "glm4"}) {
    const auto named = find_gguf_pre_tokenizer(name);
    ASSERT_TRUE(named) << name;
    for (const std::string_view pattern : named->patterns) {
      const auto pieces = cut(split(find_pattern(std::string(pattern), name), SplitBehavior::kIsolated),
                              "Hello, wörld! 12345\n\n  你好 ありがとう I'll'VE x=1;");
      std::string joined;
      for (const std::string& piece : pieces) joined += piece;
      EXPECT_EQ(joined, "Hello, wörld! 12345\n\n  你好 ありがとう I'll'VE x=1;") << name;
      ++count;
    }
  }
  EXPECT_GT(count, 40);
  EXPECT_FALSE(find_gguf_pre_tokenizer("no such name"));
}

TEST(PreTokenizer, ConstrainsScriptsByIntersection) {
  const auto kimi = find_gguf_pre_tokenizer("kimi-k2");
  EXPECT_THAT(cut(split(find_pattern(std::string(kimi->patterns[0]), "kimi"), SplitBehavior::kIsolated), "abc你好def's 12345"),
              ElementsAre("abc", "你好", "def's", " ", "123", "45"));
}

}  // namespace
}  // namespace headrace
