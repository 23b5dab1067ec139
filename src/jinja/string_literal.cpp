#include "jinja/string_literal.h"

#include <fmt/format.h>

#include "core/utf8.h"

namespace headrace::jinja {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// Reads up to `most` digits of `base` at `at`, moving it.
uint32_t read_digits(std::string_view body, size_t& at, size_t most, int base, size_t& count) {
  uint32_t value = 0;
  for (count = 0; count < most && at < body.size(); ++count, ++at) {
    const int digit = hex_digit(body[at]);
    if (digit < 0 || digit >= base) break;
    value = value * uint32_t(base) + uint32_t(digit);
  }
  return value;
}

// A code point, or half of a surrogate pair that the next escape completes.
void append(std::string& out, uint32_t& high_surrogate, uint32_t c) {
  if (high_surrogate && c >= 0xdc00 && c <= 0xdfff) {
    append_utf8(out, 0x10000 + ((high_surrogate - 0xd800) << 10) + (c - 0xdc00));
    high_surrogate = 0;
    return;
  }
  if (high_surrogate) append_utf8(out, 0xfffd);
  high_surrogate = c >= 0xd800 && c <= 0xdbff ? c : 0;
  if (!high_surrogate) append_utf8(out, c);
}

}  // namespace

const char* unescape(std::string_view body, std::string& out) {
  uint32_t high_surrogate = 0;
  size_t i = 0;
  while (i < body.size()) {
    if (body[i] != '\\' || i + 1 >= body.size()) {
      const Utf8 c = decode_utf8(body, i);
      append(out, high_surrogate, c.codepoint);
      i += size_t(c.length);
      continue;
    }
    const char escape = body[i + 1];
    constexpr std::string_view kNames = "\\'\"abfnrtv";
    constexpr std::string_view kValues = "\\'\"\a\b\f\n\r\t\v";
    if (const size_t simple = kNames.find(escape); simple != kNames.npos) {
      append(out, high_surrogate, uint32_t(kValues[simple]));
      i += 2;
    } else if (escape == '\n') {
      i += 2;
    } else if (escape >= '0' && escape <= '7') {
      size_t count;
      append(out, high_surrogate, read_digits(body, ++i, 3, 8, count));
    } else if (escape == 'x' || escape == 'u' || escape == 'U') {
      const size_t wanted = escape == 'x' ? 2 : escape == 'u' ? 4 : 8;
      size_t count;
      const uint32_t c = read_digits(body, i += 2, wanted, 16, count);
      if (count != wanted) return "a string has a truncated \\x, \\u or \\U escape";
      if (c > 0x10ffff) return "a string has an escape past \\U0010ffff";
      append(out, high_surrogate, c);
    } else if (escape == 'N') {
      return "a string has a \\N{...} escape, which is not supported: write \\u and the number";
    } else if (static_cast<unsigned char>(escape) >= 0x80) {  // Python sees the character already escaped: its backslash is taken literally
      const Utf8 c = decode_utf8(body, i + 1);
      append(out, high_surrogate, '\\');
      const uint32_t p = c.codepoint;
      out += p < 0x100 ? fmt::format("x{:02x}", p) : p < 0x10000 ? fmt::format("u{:04x}", p) : fmt::format("U{:08x}", p);
      i += 1 + size_t(c.length);
    } else {
      append(out, high_surrogate, '\\');
      i += 1;
    }
  }
  if (high_surrogate) append_utf8(out, 0xfffd);
  return nullptr;
}

}  // namespace headrace::jinja
