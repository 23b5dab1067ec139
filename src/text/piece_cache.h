// Remembers the ids of pieces within one call of encode: words repeat. Flat, and bounded: a crowded slot is overwritten.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "text/pre_tokenizer.h"
#include "text/vocabulary.h"

namespace headrace {

class PieceCache {
 public:
  // Sized for so much text; little text is not worth a cache.
  explicit PieceCache(std::span<const Piece> pieces) {
    size_t bytes = 0;
    for (const Piece& piece : pieces) bytes += piece.text.size();
    if (bytes >= 512) slots_.resize(bytes < 32 * 1024 ? 1024 : 16384);
  }
  // Appends the ids of `piece`: as they were before, or by encode(), which appends them. The piece's text must outlive the cache, and
  // `ids` must be the same at each call.
  template <typename Encode>
  void append(std::string_view piece, std::vector<int32_t>& ids, Encode&& encode) {
    if (recall(piece, ids)) return;
    const size_t begin = ids.size();
    encode();
    remember(piece, begin, ids);
  }

 private:
  bool recall(std::string_view piece, std::vector<int32_t>& ids) {
    if (slots_.empty() || piece.size() > kLongest) return false;
    const uint64_t hash = hash_bytes(piece);
    last_ = &slots_[hash >> 40 & (slots_.size() - 1)];
    if (last_->text != piece) return false;
    const size_t begin = last_->begin;
    for (size_t i = 0; i < last_->count; ++i) ids.push_back(ids[begin + i]);
    return true;
  }
  // The ids from `begin` to the end are those of the piece that recall() was last asked for.
  void remember(std::string_view piece, size_t begin, const std::vector<int32_t>& ids) {
    if (!slots_.empty() && piece.size() <= kLongest) *last_ = {piece, begin, ids.size() - begin};
  }

  static constexpr size_t kLongest = 64;
  struct Slot {
    std::string_view text;
    size_t begin = 0, count = 0;
  };
  std::vector<Slot> slots_;
  Slot* last_ = nullptr;
};

}  // namespace headrace
