// Models: from the pieces of a text to token ids. Immutable; encoding keeps its scratch on the caller's side, so threads may share one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "text/pre_tokenizer.h"
#include "text/vocabulary.h"

namespace headrace {

class Model {
 public:
  virtual ~Model() = default;
  // Appends the ids of all pieces, in order.
  virtual void encode(std::span<const Piece> pieces, std::vector<int32_t>& ids) const = 0;
};

// What becomes of text that no token spells.
struct UnknownOptions {
  std::optional<int32_t> unknown;  // its id; without one such text gives nothing
  bool fuse = false;               // one id for a run of unknown characters
  bool byte_fallback = false;      // tokens <0x00> to <0xFF> instead, when all of them that are needed exist
};

// The byte that a token like <0x0A> stands for.
std::optional<uint8_t> parse_byte_token(std::string_view text);

// Byte-pair encoding by a list of merges.
struct Merge {
  int32_t left, right, result;  // earlier in the list is merged first
};
struct BpeOptions {
  UnknownOptions unknown;
  bool ignore_merges = false;               // a piece that is a token is taken whole
  std::unordered_set<int32_t> never_whole;  // tokens that ignore_merges leaves alone: special ones
  std::string continuing_prefix;            // in the vocabulary before every character but a piece's first
  std::string end_of_word_suffix;           // in the vocabulary after a piece's last character
};
std::unique_ptr<Model> bpe_model(std::shared_ptr<const Vocabulary> vocabulary, std::span<const Merge> merges, BpeOptions options);

// Byte-pair encoding without a list: two neighbours merge when their text together is a token, the best score first, then the leftmost.
// SentencePiece's BPE (symbols are characters) and tiktoken's (symbols are bytes).
struct SpanBpeOptions {
  UnknownOptions unknown;
  bool symbols_are_bytes = false;
  bool ignore_merges = false;
  std::vector<bool> excluded;       // by id: tokens that text never gives (special ones); may be short
  std::vector<std::string> frozen;  // user-defined tokens, taken whole and never merged
};
// `scores` by id, larger is better.
std::unique_ptr<Model> span_bpe_model(std::shared_ptr<const Vocabulary> vocabulary, std::vector<float> scores, SpanBpeOptions options);

// Unigram language model: the segmentation of the largest sum of scores (Kudo 2018), by Viterbi.
struct UnigramOptions {
  UnknownOptions unknown;
  std::vector<bool> excluded;      // by id, as above
  std::vector<bool> user_defined;  // by id: always preferred
  double unknown_score = 0;        // of one unknown character
  bool sums_in_float = false;      // as SentencePiece adds; tokenizers and llama.cpp add in double
  double user_defined_base = 0;    // a user-defined token's score is this times its bytes, less 0.1 (0: the score is 0)
};
std::unique_ptr<Model> unigram_model(std::shared_ptr<const Vocabulary> vocabulary, std::vector<double> scores, UnigramOptions options);

// WordPiece: the longest token first, again and again; a piece that does not come out is one unknown token.
struct WordPieceOptions {
  int32_t unknown = 0;
  std::vector<bool> excluded;
  std::string first_prefix, continuing_prefix = "##";  // in the vocabulary before a piece's first token, and its others
  size_t max_characters = 100;                         // longer pieces are unknown
};
std::unique_ptr<Model> wordpiece_model(std::shared_ptr<const Vocabulary> vocabulary, WordPieceOptions options);

// A piece is a token or unknown.
std::unique_ptr<Model> word_level_model(std::shared_ptr<const Vocabulary> vocabulary, std::optional<int32_t> unknown);

}  // namespace headrace
