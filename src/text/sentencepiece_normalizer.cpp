#include "core/utf8.h"
#include "text/byte_trie.h"
#include "text/charsmap.h"
#include "text/normalizer.h"
#include "text/unicode.h"

namespace headrace {
namespace {

constexpr std::string_view kEscapedSpace = "\xe2\x96\x81";  // U+2581

class SentencePieceNormalizer {
 public:
  explicit SentencePieceNormalizer(SentencePieceNormalizerOptions options) : options_(std::move(options)) {}

  std::string operator()(std::string_view text, bool at_start) const {
    const std::string_view space = options_.escape_whitespaces ? kEscapedSpace : " ";
    std::string out;
    out.reserve(text.size() + text.size() / 2 + 8);
    if (options_.remove_extra_whitespaces) skip_spaces(text);
    if (text.empty()) return out;
    const bool dummy = options_.add_dummy_prefix && (at_start || options_.prefix_every_fragment);
    if (dummy && !options_.treat_whitespace_as_suffix) out += space;
    bool after_space = options_.remove_extra_whitespaces;  // where a further space would be an extra one
    while (!text.empty()) {
      Charsmap::Prefix prefix = next(text);
      text.remove_prefix(prefix.length);
      while (after_space && prefix.replacement.starts_with(' ')) prefix.replacement.remove_prefix(1);
      if (prefix.replacement.empty()) continue;
      for (const char c : prefix.replacement) {
        if (c == ' ') {
          out += space;
        } else {
          out += c;
        }
      }
      after_space = options_.remove_extra_whitespaces && prefix.replacement.ends_with(' ');
    }
    if (options_.remove_extra_whitespaces)
      while (out.ends_with(space)) out.resize(out.size() - space.size());
    if (dummy && options_.treat_whitespace_as_suffix) out += space;
    return out;
  }

 private:
  Charsmap::Prefix next(std::string_view text) const {
    if (options_.user_defined)
      if (const auto found = options_.user_defined->longest_prefix(text)) return {text.substr(0, found->length), found->length};
    if (options_.charsmap) return options_.charsmap->normalize_prefix(text);
    const size_t length = std::min(text.size(), utf8_length(text[0]));
    return {text.substr(0, length), length};
  }

  void skip_spaces(std::string_view& text) const {
    while (!text.empty()) {
      const Charsmap::Prefix prefix = next(text);
      if (prefix.replacement != " ") return;
      text.remove_prefix(prefix.length);
    }
  }

  SentencePieceNormalizerOptions options_;
};

}  // namespace

Normalizer sentencepiece_normalizer(SentencePieceNormalizerOptions options) { return SentencePieceNormalizer(std::move(options)); }

}  // namespace headrace
