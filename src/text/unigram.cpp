#include <algorithm>

#include "text/byte_trie.h"
#include "text/model.h"
#include "text/piece_cache.h"
#include "text/unicode.h"
#include "text/unknown_text.h"

namespace headrace {
namespace {

bool is_set(const std::vector<bool>& flags, int32_t id) { return static_cast<size_t>(id) < flags.size() && flags[static_cast<size_t>(id)]; }

class Unigram final : public Model {
 public:
  Unigram(std::shared_ptr<const Vocabulary> vocabulary, std::vector<double> scores, UnigramOptions options)
      : vocabulary_(std::move(vocabulary)), scores_(std::move(scores)), options_(std::move(options)),
        unknown_(*vocabulary_, options_.unknown) {
    scores_.resize(static_cast<size_t>(vocabulary_->size()), 0);
    for (int32_t id = 0; id < vocabulary_->size(); ++id) {
      if (!vocabulary_->has(id) || is_set(options_.excluded, id)) continue;
      const std::string_view text = vocabulary_->text(id);
      tokens_.insert(text, id);
      if (is_set(options_.user_defined, id))
        scores_[static_cast<size_t>(id)] =
            options_.user_defined_base == 0 ? 0 : static_cast<double>(text.size()) * options_.user_defined_base - 0.1;
    }
  }

  void encode(std::span<const Piece> pieces, std::vector<int32_t>& ids) const override {
    PieceCache cache(pieces);
    std::vector<Best> best;
    for (const Piece& piece : pieces)
      cache.append(piece.text, ids, [&] {
        find_best(piece.text, best);
        append_path(piece.text, best, ids);
      });
  }

 private:
  static constexpr int32_t kUnknown = -1;
  // The best way to end at a byte of the piece.
  struct Best {
    double score = 0;
    int64_t begin = -1;  // of the last token; -1: no way leads here
    int32_t id = kUnknown;
  };

  double add(double sum, double score) const {
    return options_.sums_in_float ? static_cast<float>(static_cast<float>(sum) + static_cast<float>(score)) : sum + score;
  }

  void find_best(std::string_view piece, std::vector<Best>& best) const {
    best.assign(piece.size() + 1, {});
    const auto offer = [&](size_t begin, size_t end, int32_t id, double score) {
      if (best[end].begin < 0 || score > best[end].score) best[end] = {score, static_cast<int64_t>(begin), id};
    };
    for (size_t begin = 0; begin < piece.size();) {
      const double sum = best[begin].score;
      const size_t character_end = std::min(piece.size(), begin + utf8_length(piece[begin]));
      bool has_single = false;
      int32_t node = tokens_.root(piece[begin]);
      for (size_t end = begin + 1; node >= 0; ++end) {
        if (const int32_t id = tokens_.value(node); id >= 0) {
          offer(begin, end, id, add(sum, scores_[static_cast<size_t>(id)]));
          has_single |= end == character_end;
        }
        if (end == piece.size()) break;
        node = tokens_.child(node, piece[end]);
      }
      if (!has_single) offer(begin, character_end, kUnknown, add(sum, options_.unknown_score));
      begin = character_end;
    }
  }

  void append_path(std::string_view piece, const std::vector<Best>& best, std::vector<int32_t>& ids) const {
    std::vector<std::pair<size_t, size_t>> spans;  // from the last to the first
    for (size_t end = piece.size(); end > 0; end = static_cast<size_t>(best[end].begin))
      spans.push_back({static_cast<size_t>(best[end].begin), end});
    bool after_unknown = false;
    for (size_t i = spans.size(); i-- > 0;) {
      const auto [begin, end] = spans[i];
      unknown_.append(best[end].id, piece.substr(begin, end - begin), after_unknown, ids);
    }
  }

  std::shared_ptr<const Vocabulary> vocabulary_;
  std::vector<double> scores_;
  UnigramOptions options_;
  UnknownText unknown_;
  ByteTrie tokens_;
};

}  // namespace

std::unique_ptr<Model> unigram_model(std::shared_ptr<const Vocabulary> vocabulary, std::vector<double> scores, UnigramOptions options) {
  return std::make_unique<Unigram>(std::move(vocabulary), std::move(scores), std::move(options));
}

}  // namespace headrace
