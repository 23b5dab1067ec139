// The small parts on their own.
#include <gmock/gmock.h>

#include <cstring>

#include "core/error.h"
#include "headrace/tokenizer.h"
#include "text/added_tokens.h"
#include "text/byte_trie.h"
#include "text/charsmap.h"
#include "text/normal_form.h"
#include "text/unicode.h"
#include "text/vocabulary.h"
#include "text/word_cutter.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;

TEST(NormalForm, ComposesAndOrdersMarks) {
  EXPECT_EQ(normalize("e\u0301\u0323", NormalForm::kNfc), "\u1eb9\u0301");
  EXPECT_EQ(normalize("\u1e69", NormalForm::kNfd), "s\u0323\u0307");
  EXPECT_EQ(normalize("\u1100\u1161\u11a8", NormalForm::kNfc), "각");
  EXPECT_EQ(normalize("ﬁ①", NormalForm::kNfkc), "fi1");
  EXPECT_EQ(normalize("\u0958", NormalForm::kNfc), "\u0915\u093c");  // excluded from composition
}

TEST(NormalForm, OrdersLongRunsLikeShortOnes) {
  std::string text = "a";
  for (int i = 0; i < 50; ++i) text += "\u0301\u0323";
  std::string expected = "a";
  for (int i = 0; i < 50; ++i) expected += "\u0323";
  for (int i = 0; i < 50; ++i) expected += "\u0301";
  EXPECT_EQ(normalize(text, NormalForm::kNfd), expected);
}

TEST(Unicode, CountsCircledLettersAsPartsOfWordsButNotTheSignsBetweenThem) {
  for (const uint32_t c : {0x24b6u, 0x1f130u, 0x1f149u, 0x1f150u, 0x1f169u, 0x1f170u, 0x1f189u, 0x200du, 0x301u})
    EXPECT_TRUE(is_word(c)) << c;
  for (const uint32_t c : {0x1f14au, 0x1f14fu, 0x1f16au, 0x1f16fu, 0x1f18au, 0xb2u, 0x2du}) EXPECT_FALSE(is_word(c)) << c;
}

TEST(Charsmap, RefusesSizesThatDoNotFitAndIgnoresWildOffsets) {
  EXPECT_THROW(Charsmap("abc", "test"), Error);
  EXPECT_THROW(Charsmap(std::string_view("\xff\xff\xff\x7f....", 8), "test"), Error);
  std::string wild(4 + 4 * 256, '\xff');
  const uint32_t size = 4 * 256;
  std::memcpy(wild.data(), &size, 4);
  EXPECT_EQ(Charsmap(wild, "test").normalize("abc é"), "abc é");
}

TEST(AddedTokens, FindsATokenThatBeginsWithTheWhitespaceAnotherOneTook) {
  AddedTokenFinder finder;
  finder.add({.id = 7, .content = " sp ", .rstrip = true}, " sp ");
  std::vector<Fragment> fragments;
  finder.cut("a sp  sp b", fragments);
  std::vector<std::string> texts;
  for (const Fragment& fragment : fragments) texts.push_back(std::string(fragment.text) + (fragment.id < 0 ? "" : "*"));
  EXPECT_THAT(texts, ElementsAre("a", " sp  *", "sp *", "b"));
}

// Expected: the ids that the tokenizers library gives.
TEST(AddedTokens, FindsTokensThatLieWhollyInWhitespaceThatAnotherOneTook) {
  AddedTokenFinder finder;
  finder.add({.id = 1, .content = "x", .rstrip = true}, "x");
  finder.add({.id = 2, .content = " "}, " ");
  std::vector<Fragment> fragments;
  finder.cut("x  y", fragments);
  std::vector<int32_t> ids;
  for (const Fragment& fragment : fragments) ids.push_back(fragment.id);
  EXPECT_THAT(ids, ElementsAre(1, 2, 2, -1));
  EXPECT_EQ(fragments.back().text, "y");
}

TEST(ByteTrie, FindsTheLongestPrefix) {
  ByteTrie trie;
  for (const auto& [key, value] : std::vector<std::pair<std::string, int>>{{"a", 1}, {"abc", 2}, {"abcdef", 3}}) trie.insert(key, value);
  EXPECT_EQ(trie.longest_prefix("abcde")->value, 2);
  EXPECT_EQ(trie.longest_prefix("ab")->length, 1u);
  EXPECT_FALSE(trie.longest_prefix("b"));
}

TEST(WordCutter, CutsBeforeWordsUnlessATokenReachesAcross) {
  Vocabulary vocabulary;
  for (const char* token : {"▁", "a", "▁▁", "é▁b", "b"}) vocabulary.add(token);
  const auto words = [&](const WordCutter& cutter, std::string_view text) {
    std::vector<std::string> words;
    cutter.for_each_word(text, [&](std::string_view word) { words.emplace_back(word); });
    return words;
  };
  const WordCutter cutter(vocabulary);
  EXPECT_THAT(words(cutter, "▁a▁b▁▁▁é▁ba▁"), ElementsAre("▁a", "▁b", "▁▁▁é▁ba", "▁"));
  EXPECT_THAT(words(cutter, "a"), ElementsAre("a"));
  EXPECT_THAT(words(WordCutter(), "a▁b"), ElementsAre("a▁b"));
  vocabulary.add("<0x41>▁");  // what a byte token stands for is not to be seen in it
  EXPECT_THAT(words(WordCutter(vocabulary), "a▁b"), ElementsAre("a▁b"));
}

TEST(Vocabulary, HoldsGapsButNoAbsurdIds) {
  Vocabulary vocabulary;
  vocabulary.set(5, "five");
  EXPECT_EQ(vocabulary.size(), 6);
  EXPECT_FALSE(vocabulary.has(2));
  EXPECT_EQ(vocabulary.find("five"), 5);
  EXPECT_THROW(vocabulary.set(INT32_MAX, "x"), Error);
  EXPECT_THROW(vocabulary.set(-1, "x"), Error);
}

}  // namespace
}  // namespace headrace
