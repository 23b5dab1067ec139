#include "headrace/tokenizer.h"

#include <gmock/gmock.h>

#include "core/utf8.h"
#include "text/gguf_vocabulary.h"
#include "text/test_cases.h"

namespace headrace {
namespace {

using test::error_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Ids = std::vector<int32_t>;

constexpr const char* kVocabularies[] = {"byte_level",  "byte_fallback", "metaspace_first",   "wordpiece",
                                         "word_suffix", "odd",           "sentencepiece_bpe", "sentencepiece_unigram"};

TEST(Tokenizer, GivesTheIdsThatTheLibrariesGive) {
  for (const char* name : kVocabularies) {
    const auto tokenizer = load_test_tokenizer(name);
    const auto cases = read_test_cases(test_folder(name) + "/cases.jsonl");
    ASSERT_GT(cases.size(), 50u) << name;
    for (const TestCase& c : cases)
      EXPECT_EQ(tokenizer->encode(c.text, {.add_special = false}), c.ids) << name << ": " << printable(c.text, 200);
  }
}

TEST(Tokenizer, ParsesControlTokensAndAddsSpecialOnesWhenAskedTo) {
  for (const char* name : kVocabularies) {
    const auto tokenizer = load_test_tokenizer(name);
    for (const TestCase& c : read_test_cases(test_folder(name) + "/cases.jsonl")) {
      if (!c.special_ids) continue;
      Ids expected = *c.special_ids;
      if (expected.size() > 1 && expected[0] == expected[1] && !tokenizer->encode("").empty())
        expected.erase(expected.begin());  // the text's own BOS
      EXPECT_EQ(tokenizer->encode(c.text, {.add_special = true, .parse_special = true}), expected)
          << name << ": " << printable(c.text, 200);
    }
  }
}

TEST(Tokenizer, DecodesAsTheLibrariesDo) {
  for (const char* name : kVocabularies) {
    const auto tokenizer = load_test_tokenizer(name);
    for (const TestCase& c : read_test_cases(test_folder(name) + "/cases.jsonl")) {
      if (!c.decoded) continue;
      const Ids& ids = c.special_ids ? *c.special_ids : c.ids;
      EXPECT_EQ(replace_invalid_utf8(tokenizer->decode(ids)), *c.decoded) << name << ": " << printable(c.text, 200);
    }
  }
}

TEST(Tokenizer, StreamsTheSameTextTokenByToken) {
  for (const char* name : kVocabularies) {
    const auto tokenizer = load_test_tokenizer(name);
    for (const bool skip_special : {false, true}) {
      for (const TestCase& c : read_test_cases(test_folder(name) + "/cases.jsonl")) {
        const Ids& ids = c.special_ids ? *c.special_ids : c.ids;
        Detokenizer stream(tokenizer, {.skip_special = skip_special});
        std::string joined;
        for (const int32_t id : ids) {
          const std::string piece = stream.push(id);
          EXPECT_TRUE(is_valid_utf8(piece)) << name;
          joined += piece;
        }
        joined += stream.flush();
        EXPECT_EQ(joined, replace_invalid_utf8(tokenizer->decode(ids, {.skip_special = skip_special})))
            << name << ": " << printable(c.text);
      }
    }
  }
}

TEST(Tokenizer, RanksGiveWhatTheSameVocabularyWithMergesGives) {
  const auto ranks = load_test_tokenizer("tiny-llama3");
  for (const TestCase& c : read_test_cases(test_folder("byte_level") + "/cases.jsonl")) {
    if (c.text.find("word") != std::string::npos || c.text.find("<") != std::string::npos) continue;  // tokens that were added to the other
    EXPECT_EQ(ranks->encode(c.text, {.add_special = false}), c.ids) << printable(c.text, 200);
    EXPECT_EQ(ranks->decode(c.ids), c.text);
  }
  const Ids turn = ranks->encode("<|start_header_id|>", {.add_special = false, .parse_special = true});
  EXPECT_EQ(turn, Ids{*ranks->bos_id() + 6});
  EXPECT_GT(ranks->encode("<|start_header_id|>", {.add_special = false}).size(), 1u);
}

TEST(Tokenizer, AGgufVocabularyGivesWhatItsOriginGives) {
  const Json json = read_json_file(test_folder("byte_level") + "/tokenizer.json");
  std::vector<std::string> tokens(json["model"]["vocab"].size()), merges;
  for (const auto& [token, id] : json["model"]["vocab"].items()) tokens[id.get<size_t>()] = token;
  for (const Json& merge : json["model"]["merges"])
    merges.push_back(merge.is_string() ? merge.get<std::string>() : merge[0].get<std::string>() + " " + merge[1].get<std::string>());
  GgufVocabulary vocabulary;
  vocabulary.model = "gpt2";
  vocabulary.pre = "llama-bpe";
  vocabulary.types.assign(tokens.size(), static_cast<int32_t>(GgufTokenType::kNormal));
  tokens.push_back("<|im_end|>");
  vocabulary.types.push_back(static_cast<int32_t>(GgufTokenType::kControl));
  vocabulary.bos = static_cast<int64_t>(tokens.size()) - 1;
  vocabulary.tokens.assign(tokens.begin(), tokens.end());
  vocabulary.merges.assign(merges.begin(), merges.end());
  const auto tokenizer = gguf_tokenizer(vocabulary);
  for (const TestCase& c : read_test_cases(test_folder("byte_level") + "/cases.jsonl")) {
    if (c.text.find("word") != std::string::npos || c.text.find("<") != std::string::npos) continue;
    EXPECT_EQ(tokenizer->encode(c.text, {.add_special = false}), c.ids) << printable(c.text, 200);
  }
  EXPECT_TRUE(tokenizer->add_bos());
  EXPECT_THAT(tokenizer->stop_ids(), ElementsAre(tokenizer->vocab_size() - 1));

  vocabulary.pre = "nobody-knows-this";
  EXPECT_THAT(error_of([&] { gguf_tokenizer(vocabulary); }), HasSubstr("nobody-knows-this"));
  vocabulary.pre = "llama-bpe";
  vocabulary.eos = 1 << 30;
  EXPECT_THAT(error_of([&] { gguf_tokenizer(vocabulary); }), HasSubstr("eos_token_id"));
}

TEST(Tokenizer, ControlTokensNeverComeFromUsersText) {
  const auto tokenizer = load_test_tokenizer("byte_fallback");
  for (const int32_t id : tokenizer->encode("<s> </s> <unk> <mask> <0x41> <|endoftext|>", {.add_special = false}))
    EXPECT_FALSE(tokenizer->is_special(id)) << tokenizer->token_text(id);
  EXPECT_EQ(tokenizer->encode("<|user|>", {.add_special = false}), Ids{*tokenizer->find_token("<|user|>")});  // added, but no control token
}

TEST(Tokenizer, TakesATemplatesOwnBosForTheOneItWouldAdd) {
  const auto tokenizer = load_test_tokenizer("byte_fallback");
  const EncodeOptions rendered{.add_special = true, .parse_special = true};
  EXPECT_EQ(tokenizer->encode("<s>hi", rendered), tokenizer->encode("hi", rendered));
  const Ids plain = tokenizer->encode("<s>hi");
  EXPECT_NE(plain, tokenizer->encode("<s>hi", rendered));
  EXPECT_EQ(plain.front(), 1);
}

TEST(Tokenizer, PairsGetTypes) {
  const auto tokenizer = load_test_tokenizer("wordpiece");
  const EncodedPair pair = tokenizer->encode_pair("a", "b");
  EXPECT_EQ(pair.ids.size(), 5u);
  EXPECT_THAT(pair.type_ids, ElementsAre(0, 0, 0, 1, 1));
}

TEST(Tokenizer, TokenBytesKeepSpacesAndPartsOfCharacters) {
  const auto tokenizer = load_test_tokenizer("byte_fallback");
  EXPECT_EQ(tokenizer->token_bytes(*tokenizer->find_token("<0xE4>")), "\xe4");
  EXPECT_EQ(tokenizer->token_bytes(*tokenizer->find_token("▁")), " ");
  EXPECT_EQ(tokenizer->token_bytes(-1), "");
  EXPECT_EQ(tokenizer->token_bytes(1 << 30), "");
  const auto bytes = load_test_tokenizer("byte_level");
  std::string joined;
  for (const int32_t id : bytes->encode("né 🙂", {.add_special = false})) joined += bytes->token_bytes(id);
  EXPECT_EQ(joined, "né 🙂");
}

TEST(Tokenizer, RejectsTextThatIsNoUtf8) {
  const auto tokenizer = load_test_tokenizer("byte_level");
  EXPECT_THAT(error_of([&] { tokenizer->encode("ab\xff"); }), HasSubstr("offset 2"));
}

TEST(Tokenizer, SkipsIdsWithoutAToken) {
  const auto tokenizer = load_test_tokenizer("byte_level");
  Ids ids = tokenizer->encode("hello", {.add_special = false});
  ids.insert(ids.begin() + 1, {-5, 1 << 30});
  EXPECT_EQ(tokenizer->decode(ids), "hello");
}

TEST(Tokenizer, ReadsConfigurationsSpecialTokensAndTemplates) {
  TextAssets assets = read_test_assets("byte_level");
  assets.files["tokenizer_config.json"] = R"({"bos_token": {"content": "<|endoftext|>"}, "eos_token": "<|user|>",
      "chat_template": [{"name": "tools", "template": "T"}, {"name": "default", "template": "D"}]})";
  const auto tokenizer = load_tokenizer(assets);
  EXPECT_EQ(tokenizer->bos_id(), tokenizer->find_token("<|endoftext|>"));
  EXPECT_EQ(tokenizer->eos_id(), tokenizer->find_token("<|user|>"));
  EXPECT_EQ(tokenizer->chat_template(), "D");
  EXPECT_THAT(tokenizer->named_tokens(), ElementsAre(testing::Pair("bos_token", "<|endoftext|>"), testing::Pair("eos_token", "<|user|>")))
      << "a name without a token is undefined in a template";
  EXPECT_TRUE(tokenizer->encode("<|user|>", {.add_special = false}).size() == 1);
  assets.files["chat_template.jinja"] = "J";
  EXPECT_EQ(load_tokenizer(assets)->chat_template(), "J");
}

TEST(Tokenizer, WhatSurroundsATextIsSaidByTokenizerJsonAndElseByTheConfiguration) {
  TextAssets assets = read_test_assets("byte_level");
  assets.files["tokenizer_config.json"] =
      R"({"bos_token": "<|endoftext|>", "eos_token": "<|user|>", "add_bos_token": true, "add_eos_token": true})";
  const auto whole = load_tokenizer(assets);
  EXPECT_TRUE(whole->add_bos() && !whole->add_eos());
  const Json json = parse_json(assets.files.extract("tokenizer.json").mapped(), "tokenizer.json");
  Json vocab = json["model"]["vocab"];
  for (const Json& token : json["added_tokens"]) vocab[token["content"].get<std::string>()] = token["id"];
  assets.files["vocab.json"] = vocab.dump();
  assets.files["merges.txt"] = "";
  const auto parts = load_tokenizer(assets);
  EXPECT_TRUE(parts->add_bos() && parts->add_eos());
  EXPECT_EQ(parts->encode("hi").size(), parts->encode("hi", {.add_special = false}).size() + 2);
}

TEST(Tokenizer, TakesTokensOfAnAddedTokensFileWhereNothingStrongerNamesThem) {
  TextAssets assets = read_test_assets("byte_level");
  const int32_t size = load_tokenizer(assets)->vocab_size();
  assets.files["added_tokens.json"] =
      fmt::format(R"({{"<|turn|>": {}, "<|fun|>": {}, "<|user|>": {}}})", size, size + 1, *load_tokenizer(assets)->find_token("<|user|>"));
  assets.files["special_tokens_map.json"] = R"({"additional_special_tokens": ["<|turn|>", {"content": "<|user|>"}]})";
  const auto tokenizer = load_tokenizer(assets);
  EXPECT_EQ(tokenizer->encode("<|fun|>", {.add_special = false}), Ids{size + 1});
  EXPECT_TRUE(tokenizer->is_special(size));
  EXPECT_GT(tokenizer->encode("<|turn|>", {.add_special = false}).size(), 1u);  // a control token, by the map of special ones
  EXPECT_EQ(tokenizer->encode("<|turn|>", {.add_special = false, .parse_special = true}), Ids{size});
  EXPECT_FALSE(tokenizer->is_special(*tokenizer->find_token("<|user|>")));  // tokenizer.json says so

  assets.files["tokenizer_config.json"] =
      fmt::format(R"({{"added_tokens_decoder": {{"{}": {{"content": "<|other|>", "special": true}}}}}})", size);
  const auto newer = load_tokenizer(assets);
  EXPECT_EQ(newer->find_token("<|other|>"), size);
  EXPECT_FALSE(newer->find_token("<|fun|>"));

  assets.files.erase("tokenizer_config.json");
  assets.files["added_tokens.json"] = R"({"<|turn|>": -1})";
  EXPECT_THAT(error_of([&] { load_tokenizer(assets); }), HasSubstr("'<|turn|>' has the id -1"));
  assets.files["added_tokens.json"] = R"(["<|turn|>"])";
  EXPECT_THAT(error_of([&] { load_tokenizer(assets); }), HasSubstr("added_tokens.json: wanted an object"));
}

TEST(Tokenizer, AnAddedTokenIsNothingThatTheModelMergesInto) {
  TextAssets assets = read_test_assets("sentencepiece_bpe");
  const auto without = load_tokenizer(assets);
  assets.files["added_tokens.json"] = fmt::format(R"({{"zq": {}}})", without->vocab_size());
  assets.files["special_tokens_map.json"] = R"({"additional_special_tokens": ["zq"]})";
  const auto with = load_tokenizer(assets);
  EXPECT_EQ(with->encode("a zq b"), without->encode("a zq b"));
}

TEST(Tokenizer, CleansSpacesUpWhereTheConfigurationSaysSoAndTheModelIsNoBytePairEncoding) {
  const auto decoded = [](const std::string& name, const std::string& text, bool cleaned) {
    TextAssets assets = read_test_assets(name);
    assets.files["tokenizer_config.json"] = fmt::format(R"({{"clean_up_tokenization_spaces": {}}})", cleaned);
    const auto tokenizer = load_tokenizer(assets);
    Detokenizer stream(tokenizer);
    std::string streamed;
    for (const int32_t id : tokenizer->encode(text, {.add_special = false})) streamed += stream.push(id);
    streamed += stream.flush();
    EXPECT_EQ(streamed, tokenizer->decode(tokenizer->encode(text, {.add_special = false}))) << name;
    return streamed;
  };
  EXPECT_EQ(decoded("sentencepiece_unigram", "it 's a boat , is n't it ?", true), "it's a boat, isn't it?");
  EXPECT_EQ(decoded("sentencepiece_unigram", "it 's a boat , is n't it ?", false), "it 's a boat , is n't it ?");
  for (const char* name : {"byte_level", "byte_fallback", "sentencepiece_bpe"})
    EXPECT_EQ(decoded(name, "a boat , is n't it ?", true), "a boat , is n't it ?") << name;
}

TEST(Tokenizer, NamesWhatIsMissing) {
  EXPECT_THAT(error_of([] { load_tokenizer(TextAssets{.name = "empty", .files = {}}); }), HasSubstr("empty: no vocabulary"));
  EXPECT_THAT(error_of([] { load_tokenizer({.name = "mine", .files = {{"x.tiktoken", "YQ== 0\n"}}}); }), HasSubstr("mine"));
}

TEST(Tokenizer, WordsOfALongTextAreNotTakenForOneAnother) {  // some fall into the same place of the cache
  const auto tokenizer = load_test_tokenizer("byte_level");
  std::string text;
  Ids expected;
  for (int i = 0; i < 3000; ++i) {
    std::string word = " ";
    for (int n = i; word.size() < 5; n /= 26) word += static_cast<char>('a' + n % 26);
    text += word;
    for (const int32_t id : tokenizer->encode(word, {.add_special = false})) expected.push_back(id);
  }
  EXPECT_EQ(tokenizer->encode(text, {.add_special = false}), expected);
}

TEST(Tokenizer, TakesLinearTime) {
  const size_t size = 400'000;
  std::string emoji, sentences, marks = "a";
  while (emoji.size() < size) emoji += "👩‍👩‍👧‍👦";
  while (sentences.size() < size) sentences += "The quick brown fox jumps over the lazy dog. ";
  while (marks.size() < size) marks += "\u0323\u0301";
  for (const char* name : kVocabularies) {
    const auto tokenizer = load_test_tokenizer(name);
    for (const std::string& text :
         {std::string(size, 'a'), std::string(size, ' '), std::string(size, '1'), std::string(size, '\n'), emoji, sentences, marks}) {
      const auto ids = tokenizer->encode(text, {.add_special = false});  // quadratic code takes minutes here
      tokenizer->decode(ids);
    }
  }
}

}  // namespace
}  // namespace headrace
