#include "core/utf8.h"

namespace headrace {

Utf8 decode_utf8(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(at);
  if (lead < 0x80) return {lead, 1, true, false};
  int length = 0;
  uint32_t codepoint = 0;
  unsigned char low = 0x80, high = 0xbf;  // allowed range of the second byte
  if (lead >= 0xc2 && lead <= 0xdf) {
    length = 2, codepoint = lead & 0x1fu;
  } else if (lead >= 0xe0 && lead <= 0xef) {
    length = 3, codepoint = lead & 0x0fu;
    if (lead == 0xe0) low = 0xa0;
    if (lead == 0xed) high = 0x9f;
  } else if (lead >= 0xf0 && lead <= 0xf4) {
    length = 4, codepoint = lead & 0x07u;
    if (lead == 0xf0) low = 0x90;
    if (lead == 0xf4) high = 0x8f;
  } else {
    return {0xfffd, 1, false, false};
  }
  for (int i = 1; i < length; ++i) {
    if (at + i >= text.size()) return {0xfffd, i, false, true};
    const unsigned char next = byte(at + i);
    if (next < low || next > high) return {0xfffd, i, false, false};
    codepoint = codepoint << 6 | (next & 0x3fu);
    low = 0x80, high = 0xbf;
  }
  return {codepoint, length, true, false};
}

void append_utf8(std::string& out, uint32_t c) {
  if (c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)) c = 0xfffd;
  if (c < 0x80) {
    out += char(c);
  } else if (c < 0x800) {
    out += char(0xc0 | c >> 6);
    out += char(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    out += char(0xe0 | c >> 12);
    out += char(0x80 | (c >> 6 & 0x3f));
    out += char(0x80 | (c & 0x3f));
  } else {
    out += char(0xf0 | c >> 18);
    out += char(0x80 | (c >> 12 & 0x3f));
    out += char(0x80 | (c >> 6 & 0x3f));
    out += char(0x80 | (c & 0x3f));
  }
}

bool is_valid_utf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const Utf8 c = decode_utf8(text, i);
    if (!c.valid) return false;
    i += c.length;
  }
  return true;
}

std::string replace_invalid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const Utf8 c = decode_utf8(text, i);
    if (c.valid) {
      out.append(text.substr(i, c.length));
    } else {
      append_utf8(out, 0xfffd);
    }
    i += c.length;
  }
  return out;
}

}  // namespace headrace
