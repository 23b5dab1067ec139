#include <bit>

#include "text/byte_trie.h"
#include "text/merge.h"
#include "text/model.h"
#include "text/piece_cache.h"
#include "text/unicode.h"
#include "text/unknown_text.h"
#include "text/word_cutter.h"

namespace headrace {
namespace {

// Floats as integers in reverse order: the best score is the smallest key.
uint32_t key_of_score(float score) {
  if (score != score) return UINT32_MAX - 1;
  const auto bits = std::bit_cast<uint32_t>(score + 0.0f);  // -0 becomes 0
  const uint32_t ascending = bits >> 31 ? ~bits : bits | 0x80000000u;
  return UINT32_MAX - ascending;
}

class SpanBpe final : public Model {
 public:
  SpanBpe(std::shared_ptr<const Vocabulary> vocabulary, std::vector<float> scores, SpanBpeOptions options)
      : vocabulary_(std::move(vocabulary)), options_(std::move(options)), unknown_(*vocabulary_, options_.unknown) {
    if (!options_.ignore_merges) words_ = WordCutter(*vocabulary_);
    keys_.reserve(scores.size());
    for (const float score : scores) keys_.push_back(key_of_score(score));
    keys_.resize(static_cast<size_t>(vocabulary_->size()), key_of_score(0));
    for (const std::string& text : options_.frozen)
      if (const auto id = vocabulary_->find(text)) frozen_.insert(text, *id);
  }

  void encode(std::span<const Piece> pieces, std::vector<int32_t>& ids) const override {
    PieceCache cache(pieces);
    Merger merger;
    std::vector<Symbol> symbols;
    for (const Piece& piece : pieces)
      words_.for_each_word(piece.text,
                           [&](std::string_view word) { cache.append(word, ids, [&] { encode_piece(word, merger, symbols, ids); }); });
  }

 private:
  std::optional<int32_t> find(std::string_view text) const {
    const auto id = vocabulary_->find(text);
    if (id && static_cast<size_t>(*id) < options_.excluded.size() && options_.excluded[static_cast<size_t>(*id)]) return std::nullopt;
    return id;
  }

  void encode_piece(std::string_view piece, Merger& merger, std::vector<Symbol>& symbols, std::vector<int32_t>& ids) const {
    if (options_.ignore_merges)
      if (const auto id = find(piece)) return ids.push_back(*id);
    symbols.clear();
    for (size_t i = 0; i < piece.size();) {
      const auto frozen = frozen_.empty() ? std::nullopt : frozen_.longest_prefix(piece.substr(i));
      const size_t length = frozen ? frozen->length : options_.symbols_are_bytes ? 1 : std::min(utf8_length(piece[i]), piece.size() - i);
      const int32_t id = frozen ? frozen->value : find(piece.substr(i, length)).value_or(-1);
      symbols.push_back({id, static_cast<uint32_t>(i), static_cast<uint32_t>(i + length), frozen.has_value()});
      i += length;
    }
    const size_t longest = vocabulary_->longest();
    merger.merge(symbols, [&](const Symbol& left, const Symbol& right) -> std::optional<MergeResult> {
      if (right.end - left.begin > longest) return std::nullopt;
      const auto id = find(piece.substr(left.begin, right.end - left.begin));
      if (!id) return std::nullopt;
      return MergeResult{keys_[static_cast<size_t>(*id)], *id};
    });
    bool after_unknown = false;
    for (const Symbol& symbol : symbols)
      unknown_.append(symbol.id, piece.substr(symbol.begin, symbol.end - symbol.begin), after_unknown, ids);
  }

  std::shared_ptr<const Vocabulary> vocabulary_;
  SpanBpeOptions options_;
  UnknownText unknown_;
  WordCutter words_;
  std::vector<uint32_t> keys_;  // by id
  ByteTrie frozen_;
};

}  // namespace

std::unique_ptr<Model> span_bpe_model(std::shared_ptr<const Vocabulary> vocabulary, std::vector<float> scores, SpanBpeOptions options) {
  return std::make_unique<SpanBpe>(std::move(vocabulary), std::move(scores), std::move(options));
}

}  // namespace headrace
