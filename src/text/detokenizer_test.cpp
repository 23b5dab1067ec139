#include <gtest/gtest.h>

#include "headrace/tokenizer.h"
#include "text/decoder.h"
#include "text/test_cases.h"

namespace headrace {
namespace {

// What comes out after each token, with "|" between, and at the end.
std::string stream(const Decoder& decoder, const std::vector<std::string>& tokens) {
  DecodeStream s(decoder);
  std::string out;
  for (const std::string& token : tokens) {
    s.token(token);
    out += s.take() + "|";
  }
  s.finish();
  return out + s.take();
}

TEST(Detokenizer, HoldsPartsOfACharacter) {
  const auto tokenizer = load_test_tokenizer("byte_level");
  const auto ids = tokenizer->encode("🙂", {.add_special = false});
  ASSERT_GT(ids.size(), 1u);
  Detokenizer detokenizer(tokenizer);
  for (size_t i = 0; i + 1 < ids.size(); ++i) EXPECT_EQ(detokenizer.push(ids[i]), "");
  EXPECT_EQ(detokenizer.push(ids.back()), "🙂");
}

TEST(Detokenizer, SaysThatBytesAreInvalidWhenThatIsCertain) {
  const auto tokenizer = load_test_tokenizer("byte_level");
  const int32_t first = tokenizer->encode("🙂", {.add_special = false}).front();
  const int32_t letter = tokenizer->encode("x", {.add_special = false}).front();
  Detokenizer detokenizer(tokenizer);
  EXPECT_EQ(detokenizer.push(first), "");
  EXPECT_EQ(detokenizer.push(letter), "\ufffdx");
  EXPECT_EQ(detokenizer.push(first), "");
  EXPECT_EQ(detokenizer.flush(), "\ufffd");
}

TEST(Decoder, DropsTheFirstSpaceOfAWholeText) {
  Decoder decoder;
  decoder.replace("▁", " ").byte_fallback_runs().fuse().strip(" ", 1, 0);
  EXPECT_EQ(stream(decoder, {"▁Hello", "▁", "▁world"}), "Hello| | world|");
  EXPECT_EQ(stream(decoder, {"▁", "▁a"}), "| a|");
  EXPECT_EQ(stream(decoder, {"<s>", "▁a"}), "<s>| a|");
}

TEST(Decoder, ByteRunsAreTextOrReplacementCharacters) {
  Decoder decoder;
  decoder.byte_fallback_runs().fuse();
  EXPECT_EQ(stream(decoder, {"<0xC3>", "<0xA9>", "x"}), "||éx|");
  EXPECT_EQ(stream(decoder, {"<0xC3>", "x", "<0xA9>"}), "|\ufffdx||\ufffd");
  Decoder bytes;
  bytes.byte_fallback_bytes();
  EXPECT_EQ(stream(bytes, {"<0xC3>", "<0xA9>"}), "\xc3|\xa9|");
}

TEST(Decoder, ByteTokensInAFusedTokenAreNone) {
  Decoder decoder;
  decoder.fuse().byte_fallback_runs();
  EXPECT_EQ(stream(decoder, {"<0x41>", "b"}), "||<0x41>b");
}

TEST(Decoder, DropsTheMarksThatAFirstWordBeginsWith) {
  Decoder once, again;
  once.drop_leading("▁", false).replace("▁", " ");
  again.drop_leading("▁", true).replace("▁", " ");
  EXPECT_EQ(stream(once, {"▁", "▁a", "▁b"}), "| a| b|");
  EXPECT_EQ(stream(again, {"▁", "▁a", "▁b"}), "|a| b|");
  EXPECT_EQ(stream(again, {"▁▁", "▁a"}), " | a|");
  EXPECT_EQ(stream(once, {"a", "▁b"}), "a| b|");
}

TEST(Decoder, WordPiecesGetSpacesBetweenWords) {
  Decoder decoder;
  decoder.wordpiece({});
  EXPECT_EQ(stream(decoder, {"hel", "##lo", "world", "!"}), "hel|lo| world|!|");
}

TEST(Decoder, OnlyTheLastWordHasNoSpaceBehindIt) {
  Decoder decoder;
  decoder.word_suffix("</w>");
  EXPECT_EQ(stream(decoder, {"hel", "lo</w>", "you</w>"}), "|hel|lo |you");
}

TEST(Decoder, CtcDropsRepeatsAndBlanks) {
  Decoder decoder;
  decoder.ctc({});
  EXPECT_EQ(stream(decoder, {"h", "h", "<pad>", "h", "|", "a"}), "h|||h| |a|");
}

TEST(Decoder, StripsEitherEndOfATokenOrOfTheWhole) {
  Decoder each;
  each.strip("_", 1, 2);
  EXPECT_EQ(stream(each, {"__a___", "_"}), "_a_||");
  Decoder whole;
  whole.fuse().strip("_", 2, 1);
  EXPECT_EQ(stream(whole, {"_", "_", "_a", "_", "_"}), "||_|a|_|");
}

TEST(Decoder, ReplacesAcrossPartsBehindFuse) {
  Decoder decoder;
  decoder.fuse().replace("abc", "X");
  EXPECT_EQ(stream(decoder, {"a", "b", "d", "ab", "c"}), "||abd||X|");
}

TEST(Decoder, CleansSpacesBeforePunctuationOfTheWholeText) {
  const std::string text = "well , I 'm sure it is n't so ; \" is it ? \" ' yes ' . no spaces here:一二三四五六七八九 !";
  Decoder decoder;
  decoder.fuse().cleanup();
  DecodeStream s(decoder);
  std::string joined;
  for (const char c : text) {
    s.token({&c, 1});
    joined += s.take();
  }
  s.finish();
  EXPECT_EQ(joined + s.take(), clean_up_spaces(text));
}

}  // namespace
}  // namespace headrace
