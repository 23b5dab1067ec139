// Byte-pair encodings that take a whole text as one piece (SentencePiece's, Llama 2's) hardly ever have a token that reaches across the
// beginning of a word. Where none of the vocabulary does, the text may be cut without changing a single merge, and words repeat.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_set>

#include "text/vocabulary.h"

namespace headrace {

class WordCutter {
 public:
  // A cutter that cuts nothing.
  WordCutter() = default;
  // For models in which every character of a text becomes a symbol: where some are dropped, their neighbours meet.
  explicit WordCutter(const Vocabulary& vocabulary) : enabled_(vocabulary.find(kMark).has_value()) {
    for (int32_t id = 0; enabled_ && id < vocabulary.size(); ++id) {
      const std::string_view token = vocabulary.text(id);
      for (size_t at = 1; (at = token.find(kMark, at)) != std::string_view::npos; at += kMark.size()) {
        reaching_.insert(character_before(token, at));
        if (token[at - 1] == '>') enabled_ = false;  // may be a byte token's end, which stands for any character
      }
    }
  }

  // Calls f(part) for each part of `text`, in order.
  template <typename F>
  void for_each_word(std::string_view text, F&& f) const {
    size_t begin = 0;
    for (size_t at = 1; enabled_ && (at = text.find(kMark, at)) != std::string_view::npos; at += kMark.size()) {
      if (reaching_.contains(character_before(text, at))) continue;
      f(text.substr(begin, at - begin));
      begin = at;
    }
    f(text.substr(begin));
  }

 private:
  static constexpr std::string_view kMark = "\xe2\x96\x81";  // U+2581, in place of a space
  // The bytes of the character that ends at `end`, as one number.
  static uint32_t character_before(std::string_view text, size_t end) {
    uint32_t bytes = 0;
    for (int shift = 0; end > 0 && shift < 32; shift += 8) {
      const auto byte = static_cast<unsigned char>(text[--end]);
      bytes |= static_cast<uint32_t>(byte) << shift;
      if ((byte & 0xc0) != 0x80) break;
    }
    return bytes;
  }

  bool enabled_ = false;
  std::unordered_set<uint32_t> reaching_;  // characters that stand before U+2581 inside a token
};

}  // namespace headrace
