#include <gmock/gmock.h>

#include "text/test_cases.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;

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
