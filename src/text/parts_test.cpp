// The small parts on their own: normal forms, patterns, pre-tokenizers, charsmaps, hostile files.
#include <gmock/gmock.h>

#include <cstring>

#include "core/error.h"
#include "core/json.h"
#include "text/added_tokens.h"
#include "text/assets.h"
#include "text/byte_trie.h"
#include "text/charsmap.h"
#include "text/normal_form.h"
#include "text/pre_tokenizer.h"
#include "text/pre_tokenizer_names.h"
#include "text/regex.h"
#include "text/test_cases.h"
#include "text/tokenizer.h"
#include "text/tokenizer_json.h"
#include "text/unicode.h"
#include "text/vocabulary.h"
#include "text/word_cutter.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> cut(const PreTokenizer& pre_tokenizer, std::string_view text) {
  PieceList list;
  list.pieces.push_back({text, true});
  pre_tokenizer(list);
  std::vector<std::string> pieces;
  for (const Piece& piece : list.pieces) pieces.emplace_back(piece.text);
  return pieces;
}

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

TEST(Unicode, CountsCircledLettersAsPartsOfWordsButNotTheSignsBetweenThem) {
  for (const uint32_t c : {0x24b6u, 0x1f130u, 0x1f149u, 0x1f150u, 0x1f169u, 0x1f170u, 0x1f189u, 0x200du, 0x301u})
    EXPECT_TRUE(is_word(c)) << c;
  for (const uint32_t c : {0x1f14au, 0x1f14fu, 0x1f16au, 0x1f16fu, 0x1f18au, 0xb2u, 0x2du}) EXPECT_FALSE(is_word(c)) << c;
}

TEST(PreTokenizer, ConstrainsScriptsByIntersection) {
  const auto kimi = find_gguf_pre_tokenizer("kimi-k2");
  EXPECT_THAT(cut(split(find_pattern(std::string(kimi->patterns[0]), "kimi"), SplitBehavior::kIsolated), "abc你好def's 12345"),
              ElementsAre("abc", "你好", "def's", " ", "123", "45"));
}

// Three units: the root's child for 'a' (0x61) with a value, which is 0.
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

TEST(TokenizerJson, RefusesBadFilesWithAReason) {
  const auto reason = [](std::string_view text) { return test::error_of([&] { parse_tokenizer_json(text); }); };
  EXPECT_THAT(reason(""), HasSubstr("not valid JSON"));
  EXPECT_THAT(reason("[]"), HasSubstr("wanted a JSON object"));
  EXPECT_THAT(reason("{}"), HasSubstr("'model' is missing"));
  EXPECT_THAT(reason(std::string(100000, '[')), HasSubstr("nested deeper"));
  EXPECT_THAT(reason(R"({"model": {"type": "Magic", "vocab": {"a": 0}}})"), HasSubstr("Magic"));
  EXPECT_THAT(reason(R"({"model": {"type": "BPE", "vocab": {"a": 4294967296}}})"), HasSubstr("model.vocab"));
  EXPECT_THAT(reason(R"({"model": {"type": "BPE", "vocab": {"a": 99999999}}})"), HasSubstr("99999999"));
  EXPECT_THAT(reason(R"({"model": {"type": "BPE", "vocab": {"a": [1]}}})"), HasSubstr("an array"));
  EXPECT_THAT(reason(R"({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": ["a b c"]}})"), HasSubstr("a b c"));
  EXPECT_THAT(reason(R"({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": ["a b"]}})"), HasSubstr("not in the vocabulary"));
  EXPECT_THAT(reason(R"({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": [["a"]]}})"), HasSubstr("no pair"));
  EXPECT_THAT(reason(R"({"model": {"type": "Unigram", "vocab": [["a", -1]], "unk_id": 7}})"), HasSubstr("unk_id is 7"));
  EXPECT_THAT(reason(R"({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}, "normalizer": {"type": "Odd"}})"), HasSubstr("Odd"));
}

TEST(TokenizerJson, WhatWouldGrowWithoutBoundIsRefused) {
  const auto with = [](const char* part, const Json& value) {
    Json json = Json::parse(R"({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}})");
    json[part] = value;
    return load_tokenizer({.name = "t", .files = {{"tokenizer.json", json.dump()}}});
  };
  const Json thousandfold = {{"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", std::string(1000, 'a')}};
  Json by_pattern = thousandfold;
  by_pattern["pattern"] = {{"Regex", "a"}};
  for (const Json& replace : {thousandfold, by_pattern}) {
    const auto tokenizer = with("normalizer", {{"type", "Sequence"}, {"normalizers", {replace, replace, replace}}});
    EXPECT_THAT(test::error_of([&] { tokenizer->encode("aaaa"); }), HasSubstr("256 MiB"));
    for (const Json& fuse : {Json{{"type", "Fuse"}}, replace}) {
      const auto decoding = with("decoder", {{"type", "Sequence"}, {"decoders", {fuse, replace, replace, replace}}});
      EXPECT_THAT(test::error_of([&] { decoding->decode(std::vector<int32_t>{0}); }), HasSubstr("decoder makes more than 256 MiB")) << fuse;
    }
  }
  // Each of them doubles what is not ASCII, or has a space.
  const Json bytes = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}};
  const Json marks = {{"type", "Metaspace"}, {"replacement", "  "}, {"prepend_scheme", "never"}, {"split", false}};
  EXPECT_THAT(test::error_of([&] {
                with("normalizer", {{"type", "Sequence"}, {"normalizers", Json(40, bytes)}})->encode("\u00e9");
              }),
              HasSubstr("normalizer makes more than 256 MiB"));
  for (const Json& doubling : {bytes, marks})
    EXPECT_THAT(test::error_of([&] {
                  with("pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", Json(40, doubling)}})->encode("\u00e9 a");
                }),
                HasSubstr("pre-tokenizer makes more than 256 MiB"))
        << doubling;
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    const Json model = {{"type", "BPE"}, {"vocab", {{"a", 0}}}, {"merges", Json::array()}, {key, std::string(257, 'x')}};
    EXPECT_THAT(test::error_of([&] { with("model", model); }), HasSubstr("257 bytes, at most 256"));
  }
  const Json text = {{"Sequence", {{"id", "A"}, {"type_id", 0}}}};
  const Json post = {
      {"type", "TemplateProcessing"}, {"single", Json(100, text)}, {"pair", Json::array()}, {"special_tokens", Json::object()}};
  EXPECT_THAT(test::error_of([&] { with("post_processor", post); }), HasSubstr("repeated more than 16"));
}

TEST(TokenizerJson, ATemplateHasATextAndNoPartsWithoutTokens) {
  Json json = Json::parse(R"({"model": {"type": "BPE", "vocab": {"a": 0, "<s>": 1}, "merges": []},
                              "added_tokens": [{"id": 1, "content": "<s>", "special": true}],
                              "post_processor": {"type": "TemplateProcessing", "single": [], "pair": [],
                                                 "special_tokens": {"none": {"id": "none", "ids": [], "tokens": []}}}})");
  const auto load = [&] {
    return load_tokenizer(
        {.name = "t",
         .files = {{"tokenizer.json", json.dump()}, {"tokenizer_config.json", R"({"bos_token": "<s>", "add_bos_token": true})"}}});
  };
  const Json text = {{"Sequence", {{"id", "A"}, {"type_id", 0}}}}, none = {{"SpecialToken", {{"id", "none"}, {"type_id", 0}}}};
  Json& single = json["post_processor"]["single"];
  for (const Json& empty : {Json::array(), Json::array({none})}) {
    single = empty;
    EXPECT_THROW(load(), Error) << empty;
  }
  single = {none, text, none};
  EXPECT_EQ(load()->encode("a"), (std::vector<int32_t>{0})) << "that nothing is around the text, tokenizer.json says";
}

TEST(TokenizerJson, CharactersThatAreDroppedLetTheirNeighboursMeet) {
  const std::string json =
      R"({"model": {"type": "BPE", "vocab": {"▁": 0, "a": 1, "a▁": 2, "<unk>": 3}, "merges": ["a ▁"]UNKNOWN}, "decoder": {"type": "Fuse"}})";
  const auto ids = [&](const std::string& unknown) {
    std::string text = json;
    text.replace(text.find("UNKNOWN"), 7, unknown);
    return Tokenizer(parse_tokenizer_json(text)).encode("a?▁");
  };
  EXPECT_THAT(ids(""), ElementsAre(2));
  EXPECT_THAT(ids(R"(, "unk_token": "<unk>")"), ElementsAre(1, 3, 0));
}

// Expected: what the tokenizers library gives.
TEST(TokenizerJson, ATextWhoseBeginningWasStrippedHasNoFirstPiece) {
  const Tokenizer tokenizer(parse_tokenizer_json(
      R"({"model": {"type": "BPE", "vocab": {"▁": 0, "a": 1, "▁a": 2}, "merges": ["▁ a"]}, "decoder": {"type": "Fuse"},
          "normalizer": {"type": "Strip"}, "pre_tokenizer": {"type": "Metaspace", "prepend_scheme": "first"}})"));
  EXPECT_THAT(tokenizer.encode("a"), ElementsAre(2));
  EXPECT_THAT(tokenizer.encode("a a "), ElementsAre(2, 2));
  EXPECT_THAT(tokenizer.encode(" a a"), ElementsAre(1, 2));
  EXPECT_THAT(tokenizer.encode("\n a"), ElementsAre(1));
}

TEST(TokenizerJson, ByteTokensSpellPrefixAndSuffixToo) {
  std::string vocab;
  for (int byte = 0; byte < 256; ++byte) vocab += fmt::format("\"<0x{:02X}>\": {}, ", byte, byte);
  const std::string json = "{\"model\": {\"type\": \"BPE\", \"byte_fallback\": true, \"continuing_subword_prefix\": \"#\", " +
                           std::string("\"end_of_word_suffix\": \"/\", \"vocab\": {") + vocab + "\"a\": 256}, \"merges\": []}}";
  EXPECT_THAT(Tokenizer(parse_tokenizer_json(json)).encode("abc"), ElementsAre(256, '#', 'b', '#', 'c', '/'));
}

// Pieces with scores and types, a unigram model, a normalizer that leaves the text as it is.
std::string sentencepiece_file(const std::vector<std::tuple<std::string, float, int>>& pieces) {
  std::string file;
  for (const auto& [text, score, type] : pieces) {
    std::string piece = "\x0a" + std::string(1, static_cast<char>(text.size())) + text + "\x15";
    piece.append(reinterpret_cast<const char*>(&score), sizeof score);
    piece += {'\x18', static_cast<char>(type)};
    file += "\x0a" + std::string(1, static_cast<char>(piece.size())) + piece;
  }
  return file + "\x12\x02\x18\x01" + std::string("\x1a\x04\x18\0\x20\0", 6);
}

TEST(SentencePieceFile, UserDefinedPiecesOfAUnigramModelOutdoTheirParts) {
  const auto bytes = sentencepiece_file({{"<unk>", 0.0f, 2}, {"a", -1.0f, 1}, {"b", -1.0f, 1}, {"ab", 0.0f, 4}});
  EXPECT_THAT(load_tokenizer({.name = "test", .files = {{"tokenizer.model", bytes}}})->encode("aab"), ElementsAre(1, 3));
}

TEST(SentencePieceFile, RefusesDamagedFiles) {
  TextAssets assets = read_test_assets("sentencepiece_bpe");
  std::string& bytes = assets.files["tokenizer.model"];
  const std::string whole = bytes;
  for (size_t size : {size_t{1}, size_t{3}, whole.size() / 2 + 1, whole.size() - 1}) {
    bytes = whole.substr(0, size);
    EXPECT_THROW(load_tokenizer(assets), Error) << size;
  }
}

}  // namespace
}  // namespace headrace
