// Normalizers: functions from text to text that run before a text is cut into pieces. A tokenizer holds a list of them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/normal_form.h"
#include "text/regex.h"

namespace headrace {

class Charsmap;
class ByteTrie;

// Text in valid UTF-8, to valid UTF-8. `at_start`: the text begins where the whole input begins, not behind an added token.
using Normalizer = std::function<std::string(std::string_view text, bool at_start)>;

std::string apply(const std::vector<Normalizer>& normalizers, std::string_view text, bool at_start);

Normalizer normal_form(NormalForm form);
Normalizer lowercase();
Normalizer strip_accents();  // removes every combining mark
Normalizer replace(std::string pattern, std::string content);
Normalizer replace(Regex pattern, std::string content);
Normalizer prepend(std::string prefix);  // an empty text stays empty
struct StripOptions {
  bool left = true, right = true;
};
Normalizer strip_whitespace(StripOptions options);
Normalizer nmt();            // drops control characters, turns every kind of space into one
Normalizer byte_alphabet();  // bytes as GPT-2's characters
Normalizer charsmap(std::shared_ptr<const Charsmap> map);

struct BertNormalizerOptions {
  bool clean_text = true;               // drop control characters (all but tab and line ends), make all whitespace spaces
  bool controls_may_be_spaces = false;  // the other whitespace among them, such as form feed, counts as whitespace
  bool space_chinese = true;            // spaces around CJK ideographs
  bool strip_accents = false;           // decompose, then drop nonspacing marks
  bool lowercase = false;
};
Normalizer bert_normalizer(BertNormalizerOptions options);

// SentencePiece's own normalization. User-defined pieces pass unchanged.
struct SentencePieceNormalizerOptions {
  std::shared_ptr<const Charsmap> charsmap;      // may be null: identity
  std::shared_ptr<const ByteTrie> user_defined;  // may be null
  bool add_dummy_prefix = true;
  bool prefix_every_fragment = true;     // also behind special tokens, not only at the start of the input
  bool remove_extra_whitespaces = true;  // leading, trailing and repeated spaces
  bool escape_whitespaces = true;        // space becomes U+2581
  bool treat_whitespace_as_suffix = false;
};
Normalizer sentencepiece_normalizer(SentencePieceNormalizerOptions options);

}  // namespace headrace
