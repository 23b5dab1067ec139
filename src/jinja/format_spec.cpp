#include "jinja/format_spec.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/error.h"
#include "core/utf8.h"
#include "jinja/operators.h"
#include "jinja/text_form.h"
#include "jinja/unicode.h"

namespace headrace::jinja {
namespace {

constexpr int64_t kMaxPrecision = 1000;

bool is_align(char c) { return c == '<' || c == '>' || c == '^' || c == '='; }

int64_t take_number(std::string_view& text) {
  int64_t value = 0;
  while (!text.empty() && text[0] >= '0' && text[0] <= '9') {
    value = value * 10 + (text[0] - '0');
    if (value > int64_t{kMaxTextBytes}) invalid("format: the width or precision is too large");
    text.remove_prefix(1);
  }
  return value;
}

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

// Separators between groups of the digits before the point or the exponent.
std::string grouped(std::string digits, char separator, size_t size) {
  if (!separator) return digits;
  const size_t end = std::min(digits.find_first_not_of("0123456789abcdefABCDEF"), digits.size());
  for (size_t at = end; at > size; at -= size) digits.insert(at - size, 1, separator);
  return digits;
}

std::string format_integer(int64_t value, const FormatSpec& spec) {
  if (spec.precision >= 0) invalid("format: a precision is not allowed for integers");
  const uint64_t magnitude = value < 0 ? 0 - uint64_t(value) : uint64_t(value);
  if (spec.type == 'c') {
    if (value < 0 || value > 0x10ffff) invalid("format: {} is no character", value);
    std::string character;
    append_utf8(character, uint32_t(value));
    return align_text(character, spec, '<');
  }
  const bool is_decimal = spec.type == '\0' || spec.type == 'd' || spec.type == 'n';
  std::string prefix = value < 0 ? "-" : spec.sign == '-' ? "" : std::string(1, spec.sign);
  std::string digits = integer_digits(magnitude, spec.type, false);
  if (spec.is_alternate && !is_decimal) prefix += std::string("0") + spec.type;
  digits = grouped(std::move(digits), spec.grouping, is_decimal ? 3 : 4);
  FormatSpec field = spec;
  if (field.align != '=') return align_text(prefix + digits, field, '>');
  field.width -= int64_t(prefix.size());
  field.align = '>';
  return prefix + align_text(digits, field, '>');
}

std::string format_float(double value, const FormatSpec& spec) {
  const std::string prefix = std::signbit(value) && !std::isnan(value) ? "-" : spec.sign == '-' ? "" : std::string(1, spec.sign);
  FormatSpec digits_spec = spec;
  double magnitude = std::fabs(value);
  if (spec.type == '%') digits_spec.type = 'f', magnitude *= 100;
  std::string digits = std::isfinite(value) ? float_digits(magnitude, digits_spec) : repr(magnitude);
  if (spec.type == 'E' || spec.type == 'F' || spec.type == 'G') digits = to_upper(digits);
  digits = grouped(std::move(digits), spec.grouping, 3);
  if (spec.type == '%') digits += '%';
  FormatSpec field = spec;
  if (field.align != '=') return align_text(prefix + digits, field, '>');
  field.width -= int64_t(prefix.size());
  field.align = '>';
  return prefix + align_text(digits, field, '>');
}

std::string format_string(const Value& value, const FormatSpec& spec) {
  if (spec.type != '\0' && spec.type != 's') invalid("format: the code '{}' does not fit a string", spec.type);
  if (spec.align == '=' && spec.fill != "0") invalid("format: '=' alignment is not allowed for strings");
  std::string_view text = text_of(value);
  auto& string = value.as<StringObject>();
  if (spec.precision >= 0 && spec.precision < length(string)) text = text.substr(0, byte_offset(string, spec.precision));
  FormatSpec field = spec;
  if (field.align == '=') field.align = '<';
  return align_text(text, field, '<');
}

}  // namespace

FormatSpec FormatSpec::parse(std::string_view text) {
  const std::string_view whole = text;
  FormatSpec spec;
  if (!text.empty()) {
    const size_t first = size_t(decode_utf8(text, 0).length);
    if (text.size() > first && is_align(text[first])) {
      spec.fill = text.substr(0, first);
      spec.align = text[first];
      text.remove_prefix(first + 1);
    } else if (is_align(text[0])) {
      spec.align = text[0];
      text.remove_prefix(1);
    }
  }
  if (text.starts_with('+') || text.starts_with('-') || text.starts_with(' ')) {
    spec.sign = text[0];
    text.remove_prefix(1);
  }
  spec.is_alternate = take(text, '#');
  if (text.starts_with('0') && take(text, '0') && spec.align == '\0') spec.fill = "0", spec.align = '=';
  spec.width = take_number(text);
  if (text.starts_with(',') || text.starts_with('_')) {
    spec.grouping = text[0];
    text.remove_prefix(1);
  }
  if (take(text, '.')) {
    if (text.empty() || text[0] < '0' || text[0] > '9') invalid("format: a precision is missing in '{}'", printable(whole));
    spec.precision = take_number(text);
  }
  if (text.size() > 1) invalid("format: invalid specification '{}'", printable(whole));
  if (!text.empty()) spec.type = text[0];
  return spec;
}

std::string align_text(std::string_view text, const FormatSpec& spec, char fallback) {
  const char align = spec.align ? spec.align : fallback;
  const int64_t missing = std::max<int64_t>(0, spec.width - count_codepoints(text));
  const int64_t left = align == '<' ? 0 : align == '^' ? missing / 2 : missing;
  return Text().repeat(size_t(left), spec.fill).add(text).repeat(size_t(missing - left), spec.fill).take();
}

std::string float_digits(double magnitude, const FormatSpec& spec) {
  if (spec.type == '\0' && spec.precision < 0) return repr(magnitude);
  if (spec.precision > kMaxPrecision) invalid("format: the precision {} is too large", spec.precision);
  const char type = spec.type == '\0' || spec.type == 'n' ? 'g' : char(spec.type | 0x20);
  int precision = spec.precision < 0 ? 6 : int(spec.precision);
  if (type == 'g' && precision == 0) precision = 1;
  std::string pattern = std::string("%") + (spec.is_alternate ? "#" : "") + ".*" + type;
  std::string out(400 + kMaxPrecision, '\0');
  out.resize(size_t(std::snprintf(out.data(), out.size(), pattern.c_str(), precision, magnitude)));
  if (spec.type == '\0' && out.find_first_of(".e") == out.npos) out += ".0";
  return out;
}

std::string integer_digits(uint64_t magnitude, char type, bool is_alternate) {
  switch (type) {
    case '\0':
    case 'd':
    case 'n':
    case 'i':
    case 'u': return std::to_string(magnitude);
    case 'x': return fmt::format("{}{:x}", is_alternate ? "0x" : "", magnitude);
    case 'X': return fmt::format("{}{:X}", is_alternate ? "0X" : "", magnitude);
    case 'o': return fmt::format("{}{:o}", is_alternate ? "0o" : "", magnitude);
    case 'b': return fmt::format("{}{:b}", is_alternate ? "0b" : "", magnitude);
    default: invalid("format: the code '{}' does not fit an integer", printable(std::string_view(&type, 1)));
  }
}

std::string format_value(const Value& value, const FormatSpec& spec) {
  const bool is_float_code = std::string_view("eEfFgG%").find(spec.type) != std::string_view::npos;
  if (value.is_integral()) return is_float_code ? format_float(value.number(), spec) : format_integer(value.as_int(), spec);
  if (value.is(Kind::kFloat)) {
    if (!is_float_code && spec.type != '\0' && spec.type != 'n') invalid("format: the code '{}' does not fit a float", spec.type);
    return format_float(value.as_float(), spec);
  }
  if (value.is_string()) return format_string(value, spec);
  invalid("format: {} takes no format specification", type_name(value));
}

}  // namespace headrace::jinja
