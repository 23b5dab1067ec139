#include <algorithm>

#include "text/model.h"
#include "text/piece_cache.h"
#include "text/unicode.h"

namespace headrace {
namespace {

class WordPiece final : public Model {
 public:
  WordPiece(std::shared_ptr<const Vocabulary> vocabulary, WordPieceOptions options)
      : vocabulary_(std::move(vocabulary)), options_(std::move(options)) {}

  void encode(std::span<const Piece> pieces, std::vector<int32_t>& ids) const override {
    PieceCache cache(pieces);
    std::string scratch;
    for (const Piece& piece : pieces)
      cache.append(piece.text, ids, [&] {
        const size_t begin = ids.size();
        if (encode_word(piece.text, scratch, ids)) return;
        ids.resize(begin);
        ids.push_back(options_.unknown);
      });
  }

 private:
  bool encode_word(std::string_view word, std::string& scratch, std::vector<int32_t>& ids) const {
    if (word.size() > options_.max_characters) {
      size_t characters = 0;
      for_each_character(word, [&](uint32_t, size_t, size_t) { ++characters; });
      if (characters > options_.max_characters) return false;
    }
    for (size_t begin = 0; begin < word.size();) {
      const std::string& prefix = begin == 0 ? options_.first_prefix : options_.continuing_prefix;
      scratch.assign(prefix).append(word.substr(begin, vocabulary_->longest()));
      size_t length = scratch.size() - prefix.size();
      std::optional<int32_t> id;
      for (; length > 0; --length) {
        id = find(std::string_view(scratch).substr(0, prefix.size() + length));
        if (id) break;
      }
      if (!id) return false;
      ids.push_back(*id);
      begin += length;
    }
    return true;
  }

  std::optional<int32_t> find(std::string_view text) const {
    const auto id = vocabulary_->find(text);
    if (id && static_cast<size_t>(*id) < options_.excluded.size() && options_.excluded[static_cast<size_t>(*id)]) return std::nullopt;
    return id;
  }

  std::shared_ptr<const Vocabulary> vocabulary_;
  WordPieceOptions options_;
};

class WordLevel final : public Model {
 public:
  WordLevel(std::shared_ptr<const Vocabulary> vocabulary, std::optional<int32_t> unknown)
      : vocabulary_(std::move(vocabulary)), unknown_(unknown) {}

  void encode(std::span<const Piece> pieces, std::vector<int32_t>& ids) const override {
    for (const Piece& piece : pieces)
      if (const auto id = vocabulary_->find(piece.text); id || unknown_) ids.push_back(id ? *id : *unknown_);
  }

 private:
  std::shared_ptr<const Vocabulary> vocabulary_;
  std::optional<int32_t> unknown_;
};

}  // namespace

std::unique_ptr<Model> word_level_model(std::shared_ptr<const Vocabulary> vocabulary, std::optional<int32_t> unknown) {
  return std::make_unique<WordLevel>(std::move(vocabulary), unknown);
}

std::unique_ptr<Model> wordpiece_model(std::shared_ptr<const Vocabulary> vocabulary, WordPieceOptions options) {
  return std::make_unique<WordPiece>(std::move(vocabulary), std::move(options));
}

}  // namespace headrace
