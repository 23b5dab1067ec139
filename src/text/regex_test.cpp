#include "text/regex.h"

#include <gmock/gmock.h>

#include "core/error.h"
#include "text/pre_tokenizer_cut.h"
#include "text/unicode.h"

namespace headrace {
namespace {

using test::cut;
using ::testing::ElementsAre;

TEST(Regex, SpeaksTheOtherDialect) {
  EXPECT_EQ(translate_regex(R"([a[bc]])", "test"), "[abc]");
  EXPECT_EQ(translate_regex(R"([\p{L}&&[^\p{Han}]]+)", "test"), R"((?:(?=[^\p{sc:Han}])[\p{L}])+)");
  EXPECT_EQ(translate_regex(R"((?m:a.))", "test"), "(?s:a.)");
  std::vector<Match> matches;
  Regex(R"(\h+)", "test").find_all("xyfa0z", matches);
  ASSERT_EQ(matches.size(), 1u);
  EXPECT_EQ(matches[0].begin, 2u);
  EXPECT_EQ(matches[0].end, 5u);
}

// Expected: what the tokenizers library (Oniguruma) does with the same patterns.
TEST(Regex, GivesSetsOfCharactersTheirOwnMeaning) {
  struct Case {
    std::string pattern, inside, outside;
  };
  const Case cases[] = {{R"(\w)", "aé中_٣²½\u0301ⓐ", "৴-\u200d…"},
                        {R"([\w])", "aé中_٣\u0301ⓐ", "²½-"},
                        {R"([^\w\s])", "²½-", "a_ \u2028"},
                        {R"([\W\d])", "1-²", "a_"},
                        {R"([\S])", "a\u180e", " \u3000"},
                        {R"([\H])", "gG-", "aF9"},
                        {R"(\v)", "\x0b", "\n\u2028"},
                        {R"(\p{Han})", "中々", "。〱ー"},
                        {R"(\p{bopomofo})", "ㄅ", "、"},
                        {R"([^\p{Han}])", "。a", "中"},
                        {R"(\p{^L})", "1-", "aé"},
                        {R"(\P{^Lu})", "A", "a1"},
                        {R"(\p{Uppercase_Letter})", "AÉ", "aⅠ"},
                        {R"(\p{Punct})", "-!…", "+$"},
                        {R"([[:punct:]])", "-!…+$", "a1"},
                        {R"([[:alpha:]])", "aéⅠⓐ", "1_"},
                        {R"([[:^alpha:]])", "1_", "aⅠ"},
                        {R"([[:word:]])", "a_1", "²-"},
                        {R"(\p{Space})", " \u3000\x0b", "\u180e"},
                        {R"(\u00e9)", "é", "e"},
                        {R"([^[^a]])", "a", "b"},
                        {R"([b[^a-z]])", "b1", "ac"},
                        {R"([^\W])", "a1", "-"},
                        {R"([[:alpha:]&&[^a]])", "b", "a1"}};
  for (const Case& c : cases) {
    const Regex regex(c.pattern, "test");
    const auto matches = [&](std::string_view text) {
      std::vector<Match> found;
      regex.find_all(text, found);
      return !found.empty();
    };
    for_each_character(c.inside, [&](uint32_t, size_t begin, size_t end) {
      EXPECT_TRUE(matches(c.inside.substr(begin, end - begin))) << c.pattern << " " << c.inside.substr(begin, end - begin);
    });
    for_each_character(c.outside, [&](uint32_t, size_t begin, size_t end) {
      EXPECT_FALSE(matches(c.outside.substr(begin, end - begin))) << c.pattern << " " << c.outside.substr(begin, end - begin);
    });
  }
  EXPECT_THROW(Regex(R"(\p{NoSuchThing})", "test"), Error);
  EXPECT_THROW(Regex(R"(\p{L)", "test"), Error);
  EXPECT_THROW(Regex(R"([[:nothing:]])", "test"), Error);
  EXPECT_THROW(Regex(R"(\u12)", "test"), Error);
}

TEST(Regex, EndsWordsWhereTheOtherDialectDoes) {
  EXPECT_THAT(cut(split(find_pattern(R"(\b)", "test"), SplitBehavior::kIsolated), "a\u0301_x²-b\u200dc"),
              ElementsAre("a\u0301_x²", "-", "b", "\u200d", "c"));
  EXPECT_THAT(cut(split(find_pattern("a{,2}", "test"), SplitBehavior::kIsolated), "aaab"), ElementsAre("aa", "a", "b"));
  EXPECT_THAT(cut(split(find_pattern(R"(\pL)", "test"), SplitBehavior::kIsolated), "xpLx"), ElementsAre("x", "pL", "x"));
}

TEST(Regex, ReportsPatternsThatDoNotCompileAndMatchesThatGiveUp) {
  EXPECT_THROW(Regex("(", "test"), Error);
  EXPECT_THROW(Regex("[a", "test"), Error);
  EXPECT_THROW(Regex("a\\", "test"), Error);
  std::vector<Match> matches;
  EXPECT_THROW(Regex("(a+)+$", "test").find_all(std::string(64, 'a') + "b", matches), Error);
}

}  // namespace
}  // namespace headrace
