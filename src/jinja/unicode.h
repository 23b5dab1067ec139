// Characters as Python's str sees them: code points, with Unicode's categories and case mappings.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::jinja {

struct StringObject;

// In code points; counted once per string.
int64_t length(StringObject& string);
// The byte at which code point `index` starts; 0 <= index <= length.
size_t byte_offset(StringObject& string, int64_t index);
int64_t count_codepoints(std::string_view text);
std::vector<uint32_t> decode(std::string_view text);
std::string encode(const uint32_t* codepoints, size_t count);

bool is_space(uint32_t c);
bool is_line_break(uint32_t c);
bool is_alpha(uint32_t c);
bool is_decimal(uint32_t c);
bool is_digit(uint32_t c);  // decimals, superscripts and the like
bool is_alnum(uint32_t c);
bool is_word(uint32_t c);  // a regular expression's \w
bool is_lower(uint32_t c);
bool is_upper(uint32_t c);
bool is_title(uint32_t c);
bool is_printable(uint32_t c);
inline bool is_cased(uint32_t c) { return is_lower(c) || is_upper(c) || is_title(c); }

std::string to_lower(std::string_view text);
std::string to_upper(std::string_view text);
std::string to_title(std::string_view text);
std::string capitalize(std::string_view text);
std::string swap_case(std::string_view text);
std::string fold_case(std::string_view text);

// Without the characters at its ends that are white space, or that are in `characters`.
struct StripSides {
  bool left = true;
  bool right = true;
};
std::string_view strip(std::string_view text, StripSides sides = {});
std::string_view strip(std::string_view text, std::string_view characters, StripSides sides = {});

}  // namespace headrace::jinja
