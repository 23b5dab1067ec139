#include <bit>

#include "text/merge.h"
#include "text/model.h"
#include "text/piece_cache.h"
#include "text/unicode.h"
#include "text/unknown_text.h"
#include "text/word_cutter.h"

namespace headrace {
namespace {

// (left, right) -> what they merge into; open addressing.
class MergeTable {
 public:
  explicit MergeTable(std::span<const Merge> merges) : slots_(std::bit_ceil(merges.size() * 2 + 16)) {
    for (size_t rank = 0; rank < merges.size(); ++rank) {
      const uint64_t key = pair(merges[rank].left, merges[rank].right);
      size_t i = first(key);
      while (slots_[i].key != kFree && slots_[i].key != key) i = (i + 1) & (slots_.size() - 1);
      slots_[i] = {key, static_cast<uint32_t>(rank), merges[rank].result};  // of a pair that is listed twice the last rank counts
    }
  }
  std::optional<MergeResult> find(int32_t left, int32_t right) const {
    const uint64_t key = pair(left, right);
    for (size_t i = first(key); slots_[i].key != kFree; i = (i + 1) & (slots_.size() - 1))
      if (slots_[i].key == key) return MergeResult{slots_[i].rank, slots_[i].result};
    return std::nullopt;
  }

 private:
  static constexpr uint64_t kFree = UINT64_MAX;
  struct Slot {
    uint64_t key = kFree;
    uint32_t rank = 0;
    int32_t result = 0;
  };
  static uint64_t pair(int32_t left, int32_t right) {
    return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
  }
  size_t first(uint64_t key) const { return ((key ^ key >> 29) * 0x9e3779b97f4a7c15u >> 24) & (slots_.size() - 1); }
  std::vector<Slot> slots_;
};

class Bpe final : public Model {
 public:
  Bpe(std::shared_ptr<const Vocabulary> vocabulary, std::span<const Merge> merges, BpeOptions options)
      : vocabulary_(std::move(vocabulary)), merges_(merges), options_(std::move(options)), unknown_(*vocabulary_, options_.unknown),
        small_(kNumSmall, -1) {
    plain_ = options_.continuing_prefix.empty() && options_.end_of_word_suffix.empty();
    if (plain_ && !options_.ignore_merges && unknown_.drops_nothing()) words_ = WordCutter(*vocabulary_);
    for (uint32_t c = 0; c < kNumSmall; ++c) {
      std::string text;
      if (c < 0x80) {
        text = static_cast<char>(c);
      } else {
        text = {static_cast<char>(0xc0 | c >> 6), static_cast<char>(0x80 | (c & 0x3f))};
      }
      if (const auto id = vocabulary_->find(text)) small_[c] = *id;
    }
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
  static constexpr uint32_t kNumSmall = 0x400;

  void encode_piece(std::string_view piece, Merger& merger, std::vector<Symbol>& symbols, std::vector<int32_t>& ids) const {
    if (options_.ignore_merges) {
      if (const auto id = vocabulary_->find(piece); id && !options_.never_whole.contains(*id)) return ids.push_back(*id);
    }
    symbols.clear();
    bool after_unknown = false;
    for_each_character(piece, [&](uint32_t c, size_t begin, size_t end) {
      if (const auto id = character_id(piece, c, begin, end)) {
        symbols.push_back({*id, static_cast<uint32_t>(begin), static_cast<uint32_t>(end)});
        after_unknown = false;
      } else if (!append_bytes(piece, begin, end, symbols)) {
        append_unknown(after_unknown, begin, end, symbols);
        after_unknown = true;
      } else {
        after_unknown = false;
      }
    });
    merger.merge(symbols, [&](const Symbol& left, const Symbol& right) { return merges_.find(left.id, right.id); });
    for (const Symbol& symbol : symbols)
      if (symbol.id >= 0) ids.push_back(symbol.id);
  }

  std::optional<int32_t> character_id(std::string_view piece, uint32_t c, size_t begin, size_t end) const {
    if (plain_) {
      if (c < kNumSmall) return small_[c] >= 0 ? std::optional(small_[c]) : std::nullopt;
      return vocabulary_->find(piece.substr(begin, end - begin));
    }
    return vocabulary_->find(in_vocabulary(piece, begin, end));
  }

  // The character as the vocabulary writes it, by its place in the piece.
  std::string in_vocabulary(std::string_view piece, size_t begin, size_t end) const {
    std::string text = begin > 0 ? options_.continuing_prefix : std::string();
    text += piece.substr(begin, end - begin);
    if (end == piece.size()) text += options_.end_of_word_suffix;
    return text;
  }

  // The bytes of prefix and suffix count too.
  bool append_bytes(std::string_view piece, size_t begin, size_t end, std::vector<Symbol>& symbols) const {
    if (!options_.unknown.byte_fallback) return false;
    const std::string text = plain_ ? std::string(piece.substr(begin, end - begin)) : in_vocabulary(piece, begin, end);
    if (!unknown_.spells(text)) return false;
    for (const char c : text) symbols.push_back({unknown_.byte_token(c), static_cast<uint32_t>(begin), static_cast<uint32_t>(end)});
    return true;
  }

  void append_unknown(bool after_unknown, size_t begin, size_t end, std::vector<Symbol>& symbols) const {
    if (!options_.unknown.unknown) return;
    if (after_unknown && options_.unknown.fuse && !symbols.empty()) {
      symbols.back().end = static_cast<uint32_t>(end);
    } else {
      symbols.push_back({*options_.unknown.unknown, static_cast<uint32_t>(begin), static_cast<uint32_t>(end)});
    }
  }

  std::shared_ptr<const Vocabulary> vocabulary_;
  MergeTable merges_;
  BpeOptions options_;
  UnknownText unknown_;
  WordCutter words_;
  std::vector<int32_t> small_;  // ids of the characters below U+0400
  bool plain_ = true;
};

}  // namespace

std::unique_ptr<Model> bpe_model(std::shared_ptr<const Vocabulary> vocabulary, std::span<const Merge> merges, BpeOptions options) {
  return std::make_unique<Bpe>(std::move(vocabulary), merges, std::move(options));
}

}  // namespace headrace
