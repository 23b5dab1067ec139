#include "text/tokenizer_json.h"

#include <gmock/gmock.h>

#include "core/json.h"
#include "core/test_support.h"
#include "headrace/tokenizer.h"
#include "text/assets.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

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

TEST(TokenizerJson, OnlyTheFirstPieceOfATextIsAtItsStart) {
  const Tokenizer tokenizer(parse_tokenizer_json(
      R"({"model": {"type": "BPE", "vocab": {"▁": 0, "a": 1, "▁a": 2}, "merges": ["▁ a"]}, "decoder": {"type": "Fuse"},
          "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, {"type": "Metaspace", "prepend_scheme": "first"}]}})"));
  EXPECT_THAT(tokenizer.encode("a a"), ElementsAre(2, 1));
}

TEST(TokenizerJson, ByteTokensSpellPrefixAndSuffixToo) {
  std::string vocab;
  for (int byte = 0; byte < 256; ++byte) vocab += fmt::format("\"<0x{:02X}>\": {}, ", byte, byte);
  const std::string json = "{\"model\": {\"type\": \"BPE\", \"byte_fallback\": true, \"continuing_subword_prefix\": \"#\", " +
                           std::string("\"end_of_word_suffix\": \"/\", \"vocab\": {") + vocab + "\"a\": 256}, \"merges\": []}}";
  EXPECT_THAT(Tokenizer(parse_tokenizer_json(json)).encode("abc"), ElementsAre(256, '#', 'b', '#', 'c', '/'));
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

}  // namespace
}  // namespace headrace
