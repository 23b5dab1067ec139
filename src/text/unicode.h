// Classes of characters, as the tokenizers' definitions use them (Unicode data from utf8proc).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace headrace {

bool is_whitespace(uint32_t c);                       // White_Space
bool is_other(uint32_t c);                            // Cc, Cf, Co, Cs
bool is_punctuation(uint32_t c);                      // P*, and every ASCII sign that is neither letter nor digit: $ + < = > ^ ` | ~
bool is_numeric(uint32_t c);                          // N*
bool is_decimal(uint32_t c);                          // Nd
bool is_word(uint32_t c);                             // letters and their like, M*, Nd, Pc, joiners: \w
bool is_mark(uint32_t c);                             // M*
bool is_nonspacing_mark(uint32_t c);                  // Mn
bool is_chinese(uint32_t c);                          // BERT's list of CJK ideographs
void append_lowercase(std::string& out, uint32_t c);  // the full mapping: one character may become two

// True when the whole text is ASCII.
bool is_ascii(std::string_view text);

// Calls f(codepoint, begin, end) for each character of valid UTF-8.
template <typename F>
void for_each_character(std::string_view text, F&& f) {
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const auto tail = [&](size_t k) { return static_cast<uint32_t>(static_cast<unsigned char>(text[i + k]) & 0x3f); };
    size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (length > text.size() - i) length = text.size() - i;  // never in valid UTF-8
    uint32_t c = lead;
    if (length == 2) c = (lead & 0x1fu) << 6 | tail(1);
    if (length == 3) c = (lead & 0x0fu) << 12 | tail(1) << 6 | tail(2);
    if (length == 4) c = (lead & 0x07u) << 18 | tail(1) << 12 | tail(2) << 6 | tail(3);
    f(c, i, i + length);
    i += length;
  }
}

// Bytes of the character that starts with this byte of valid UTF-8.
inline size_t utf8_length(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0xc0 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

}  // namespace headrace
