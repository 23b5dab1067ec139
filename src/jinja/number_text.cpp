#include "jinja/number_text.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "jinja/unicode.h"

namespace headrace::jinja {
namespace {

bool is_ascii_alnum(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Removes underscores that stand between digits; false when one stands elsewhere.
bool remove_underscores(std::string& digits) {
  for (size_t i = 0; i < digits.size(); ++i) {
    const bool between = i > 0 && i + 1 < digits.size() && is_ascii_alnum(digits[i - 1]) && is_ascii_alnum(digits[i + 1]);
    if (digits[i] == '_' && !between) return false;
  }
  std::erase(digits, '_');
  return true;
}

bool take_sign(std::string_view& text) {
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  return is_negative;
}

std::string lower_ascii(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = char(c | 0x20);
  return out;
}

}  // namespace

std::optional<int64_t> parse_integer(std::string_view text, int64_t base) {
  if (base != 0 && (base < 2 || base > 36)) return std::nullopt;
  text = strip(text);
  const bool is_negative = take_sign(text);
  const char prefix = text.size() > 2 && text[0] == '0' ? char(text[1] | 0x20) : '\0';
  const int prefixed = prefix == 'x' ? 16 : prefix == 'o' ? 8 : prefix == 'b' ? 2 : 0;
  std::string digits(text);
  if (prefixed && (base == 0 || base == prefixed)) {
    digits.erase(0, 2);
    if (digits.starts_with('_')) digits.erase(0, 1);
    base = prefixed;
  } else if (base == 0) {
    if (digits.size() > 1 && digits[0] == '0' && digits.find_first_not_of("0_") != digits.npos) return std::nullopt;
    base = 10;
  }
  if (!remove_underscores(digits) || digits.empty() || digits[0] == '-') return std::nullopt;
  if (is_negative) digits.insert(0, "-");
  int64_t value = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value, int(base));
  if (result.ec != std::errc() || result.ptr != digits.data() + digits.size()) return std::nullopt;
  return value;
}

std::optional<double> parse_float(std::string_view text) {
  text = strip(text);
  const bool is_negative = take_sign(text);
  std::string digits = lower_ascii(text);
  const double sign = is_negative ? -1 : 1;
  if (digits == "inf" || digits == "infinity") return sign * std::numeric_limits<double>::infinity();
  if (digits == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (!remove_underscores(digits) || digits.empty() || (!(digits[0] >= '0' && digits[0] <= '9') && digits[0] != '.')) return std::nullopt;
  double value = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (result.ptr != digits.data() + digits.size()) return std::nullopt;
  if (result.ec == std::errc::result_out_of_range) value = std::strtod(digits.c_str(), nullptr);
  else if (result.ec != std::errc()) return std::nullopt;
  return sign * value;
}

}  // namespace headrace::jinja
