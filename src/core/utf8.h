// UTF-8, strictly: overlong forms, surrogates and code points past U+10FFFF are invalid (Unicode 15, table 3-7).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace headrace {

struct Utf8 {
  uint32_t codepoint;  // U+FFFD when invalid
  int length;          // bytes to step over, at least 1; of an invalid sequence its maximal valid prefix (Unicode's practice for U+FFFD)
  bool valid;
  bool truncated;  // invalid only because the text ends inside it
};

// Decodes the character at text[at]; at < text.size().
Utf8 decode_utf8(std::string_view text, size_t at);
void append_utf8(std::string& out, uint32_t codepoint);
bool is_valid_utf8(std::string_view text);
// Each maximal invalid part becomes one U+FFFD.
std::string replace_invalid_utf8(std::string_view text);

}  // namespace headrace
