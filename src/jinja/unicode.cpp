#include "jinja/unicode.h"

#include <utf8proc.h>

#include <algorithm>

#include "core/utf8.h"
#include "jinja/objects.h"

namespace headrace::jinja {
namespace {

utf8proc_category_t category(uint32_t c) { return utf8proc_category(utf8proc_int32_t(c)); }

// Full mappings that are not one character long (SpecialCasing.txt, the unconditional ones in use).
std::u32string_view special_upper(uint32_t c) {
  switch (c) {
    case 0xdf: return U"SS";
    case 0x149: return U"\u02bcN";
    case 0x1f0: return U"J\u030c";
    case 0x390: return U"\u0399\u0308\u0301";
    case 0x3b0: return U"\u03a5\u0308\u0301";
    case 0x587: return U"\u0535\u0552";
    case 0x1e9e: return U"\u1e9e";
    case 0xfb00: return U"FF";
    case 0xfb01: return U"FI";
    case 0xfb02: return U"FL";
    case 0xfb03: return U"FFI";
    case 0xfb04: return U"FFL";
    case 0xfb05:
    case 0xfb06: return U"ST";
    default: return {};
  }
}

void append_upper(std::string& out, uint32_t c) {
  const std::u32string_view special = special_upper(c);
  if (special.empty()) return append_utf8(out, uint32_t(utf8proc_toupper(utf8proc_int32_t(c))));
  for (const char32_t s : special) append_utf8(out, s);
}

void append_title(std::string& out, uint32_t c) {
  const std::u32string_view special = special_upper(c);
  if (special.empty()) return append_utf8(out, uint32_t(utf8proc_totitle(utf8proc_int32_t(c))));
  append_utf8(out, special[0]);
  for (const char32_t s : special.substr(1)) append_utf8(out, uint32_t(utf8proc_tolower(utf8proc_int32_t(s))));
}

// A capital sigma that ends a word becomes the final form.
void append_lower(std::string& out, const std::vector<uint32_t>& text, size_t i) {
  const uint32_t c = text[i];
  if (c == 0x130) return void(out += "i\u0307");
  if (c == 0x3a3) {
    const bool after_cased = i > 0 && is_cased(text[i - 1]);
    const bool before_cased = i + 1 < text.size() && is_cased(text[i + 1]);
    return append_utf8(out, after_cased && !before_cased ? 0x3c2 : 0x3c3);
  }
  append_utf8(out, uint32_t(utf8proc_tolower(utf8proc_int32_t(c))));
}

template <typename Append>
std::string mapped(std::string_view text, Append append) {
  const std::vector<uint32_t> codepoints = decode(text);
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < codepoints.size(); ++i) append(out, codepoints, i);
  return out;
}

template <typename Drop>
std::string_view strip_if(std::string_view text, StripSides sides, Drop drop) {
  while (sides.left && !text.empty()) {
    const Utf8 c = decode_utf8(text, 0);
    if (!drop(c.codepoint)) break;
    text.remove_prefix(size_t(c.length));
  }
  while (sides.right && !text.empty()) {
    size_t start = text.size() - 1;
    while (start > 0 && (static_cast<unsigned char>(text[start]) & 0xc0) == 0x80) --start;
    if (!drop(decode_utf8(text, start).codepoint)) break;
    text.remove_suffix(text.size() - start);
  }
  return text;
}

}  // namespace

int64_t count_codepoints(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
}

int64_t length(StringObject& string) {
  if (string.num_codepoints < 0) string.num_codepoints = count_codepoints(string.text);
  return string.num_codepoints;
}

size_t byte_offset(StringObject& string, int64_t index) {
  if (length(string) == int64_t(string.text.size())) return size_t(index);
  size_t offset = 0;
  for (; index > 0; --index) {
    ++offset;
    while (offset < string.text.size() && (static_cast<unsigned char>(string.text[offset]) & 0xc0) == 0x80) ++offset;
  }
  return offset;
}

std::vector<uint32_t> decode(std::string_view text) {
  std::vector<uint32_t> codepoints;
  codepoints.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const Utf8 c = decode_utf8(text, i);
    codepoints.push_back(c.codepoint);
    i += size_t(c.length);
  }
  return codepoints;
}

std::string encode(const uint32_t* codepoints, size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i) append_utf8(out, codepoints[i]);
  return out;
}

bool is_space(uint32_t c) {
  if (c < 0x80) return c == ' ' || (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x1f);
  return c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f ||
         c == 0x205f || c == 0x3000;
}

bool is_line_break(uint32_t c) { return (c >= 0x0a && c <= 0x0d) || (c >= 0x1c && c <= 0x1e) || c == 0x85 || c == 0x2028 || c == 0x2029; }

bool is_alpha(uint32_t c) {
  const auto k = category(c);
  return k >= UTF8PROC_CATEGORY_LU && k <= UTF8PROC_CATEGORY_LO;
}

bool is_decimal(uint32_t c) { return category(c) == UTF8PROC_CATEGORY_ND; }

bool is_digit(uint32_t c) {
  return is_decimal(c) || c == 0xb2 || c == 0xb3 || c == 0xb9 || c == 0x2070 || (c >= 0x2074 && c <= 0x2079) ||
         (c >= 0x2080 && c <= 0x2089) || (c >= 0x2460 && c <= 0x2468) || (c >= 0x2474 && c <= 0x247c) || (c >= 0x2488 && c <= 0x2490) ||
         c == 0x24ea || (c >= 0x24f5 && c <= 0x24fd) || c == 0x24ff || (c >= 0x2776 && c <= 0x277e) || (c >= 0x2780 && c <= 0x2788) ||
         (c >= 0x278a && c <= 0x2792);
}

bool is_alnum(uint32_t c) {
  const auto k = category(c);
  return is_alpha(c) || k == UTF8PROC_CATEGORY_ND || k == UTF8PROC_CATEGORY_NL || k == UTF8PROC_CATEGORY_NO;
}

bool is_word(uint32_t c) { return c == '_' || is_alnum(c); }

bool is_lower(uint32_t c) { return category(c) == UTF8PROC_CATEGORY_LL || c == 0xaa || c == 0xba || (c >= 0x2170 && c <= 0x217f); }
bool is_upper(uint32_t c) { return category(c) == UTF8PROC_CATEGORY_LU || (c >= 0x2160 && c <= 0x216f) || (c >= 0x24b6 && c <= 0x24cf); }
bool is_title(uint32_t c) { return category(c) == UTF8PROC_CATEGORY_LT; }

bool is_printable(uint32_t c) {
  if (c == ' ') return true;
  switch (category(c)) {
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP: return false;
    default: return true;
  }
}

std::string to_lower(std::string_view text) { return mapped(text, append_lower); }

std::string to_upper(std::string_view text) {
  return mapped(text, [](std::string& out, const std::vector<uint32_t>& t, size_t i) { append_upper(out, t[i]); });
}

std::string to_title(std::string_view text) {
  return mapped(text, [](std::string& out, const std::vector<uint32_t>& t, size_t i) {
    i > 0 && is_cased(t[i - 1]) ? append_lower(out, t, i) : append_title(out, t[i]);
  });
}

std::string capitalize(std::string_view text) {
  return mapped(
      text, [](std::string& out, const std::vector<uint32_t>& t, size_t i) { i > 0 ? append_lower(out, t, i) : append_title(out, t[i]); });
}

std::string swap_case(std::string_view text) {
  return mapped(text, [](std::string& out, const std::vector<uint32_t>& t, size_t i) {
    is_upper(t[i]) ? append_lower(out, t, i) : is_lower(t[i]) ? append_upper(out, t[i]) : append_utf8(out, t[i]);
  });
}

std::string fold_case(std::string_view text) {
  return mapped(text, [](std::string& out, const std::vector<uint32_t>& t, size_t i) {
    if (t[i] == 0xdf || t[i] == 0x1e9e) return void(out += "ss");
    append_utf8(out, t[i] == 0x3c2 ? 0x3c3 : uint32_t(utf8proc_tolower(utf8proc_int32_t(t[i]))));
  });
}

std::string_view strip(std::string_view text, StripSides sides) { return strip_if(text, sides, is_space); }

std::string_view strip(std::string_view text, std::string_view characters, StripSides sides) {
  std::vector<uint32_t> set = decode(characters);
  std::sort(set.begin(), set.end());
  return strip_if(text, sides, [&](uint32_t c) { return std::binary_search(set.begin(), set.end(), c); });
}

}  // namespace headrace::jinja
