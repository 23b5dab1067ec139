#include "jinja/percent_format.h"

#include <cmath>

#include "core/error.h"
#include "core/utf8.h"
#include "jinja/format_spec.h"
#include "jinja/operators.h"
#include "jinja/text_form.h"
#include "jinja/unicode.h"

namespace headrace::jinja {
namespace {

bool is_one_of(std::string_view characters, char c) { return characters.find(c) != characters.npos; }

class PercentFormatter {
 public:
  PercentFormatter(Runtime& runtime, const Value& string, const Value& arguments)
      : runtime_(runtime), text_(text_of(string)), arguments_(arguments), escapes_(is_markup(string)) {}

  std::string run() {
    while (at_ < text_.size()) {
      const size_t percent = std::min(text_.find('%', at_), text_.size());
      out_.add(std::string_view(text_).substr(at_, percent - at_));
      at_ = percent + 1;
      if (percent < text_.size()) conversion();
    }
    const bool is_mapping_like =
        !arguments_.is(Kind::kTuple) && !arguments_.is_string() && (has_length(arguments_) && !arguments_.is(Kind::kDictView));
    if (!is_mapping_like && !used_mapping_ && next_ < num_arguments()) invalid("not all arguments converted during string formatting");
    return out_.take();
  }

 private:
  size_t num_arguments() const {
    if (arguments_.is(Kind::kTuple)) return items_of(arguments_).size();
    return arguments_.is(Kind::kList) && used_mapping_ ? 0 : 1;
  }

  char peek() const {
    if (at_ >= text_.size()) invalid("incomplete format: the string ends after '%'");
    return text_[at_];
  }

  Value next_value() {
    if (next_ >= num_arguments() || used_mapping_) invalid("not enough arguments for format string");
    ++next_;
    return arguments_.is(Kind::kTuple) ? items_of(arguments_)[next_ - 1] : arguments_;
  }

  Value named_value() {
    size_t end = at_ + 1;
    for (int open = 1; end < text_.size(); ++end) {
      if (text_[end] == '(') ++open;
      if (text_[end] == ')' && --open == 0) break;
    }
    if (end >= text_.size()) invalid("incomplete format key");
    if (!arguments_.is(Kind::kDict)) invalid("format requires a mapping");
    const std::string_view key = std::string_view(text_).substr(at_ + 1, end - at_ - 1);
    const Value* value = arguments_.as<DictObject>().find(key);
    if (!value) invalid("format: there is no key '{}'", printable(key));
    at_ = end + 1;
    used_mapping_ = true;
    return *value;
  }

  int64_t number() {
    if (peek() == '*') {
      ++at_;
      return to_index(next_value(), "*");
    }
    int64_t value = 0;
    for (; peek() >= '0' && peek() <= '9'; ++at_) {
      value = value * 10 + (peek() - '0');
      if (value > int64_t{kMaxTextBytes}) invalid("format: the width or precision is too large");
    }
    return value;
  }

  void conversion() {
    runtime_.step();
    Value value;
    FormatSpec spec;
    bool zero = false;
    if (peek() == '(') value = named_value();
    for (; is_one_of("#0- +", peek()); ++at_) {
      switch (peek()) {
        case '#': spec.is_alternate = true; break;
        case '0': zero = true; break;
        case '-': spec.align = '<'; break;
        case ' ': spec.sign = spec.sign == '+' ? '+' : ' '; break;
        default: spec.sign = '+'; break;
      }
    }
    spec.width = number();
    if (spec.width < 0) spec.align = '<', spec.width = -std::max(spec.width, -int64_t{kMaxTextBytes});
    if (peek() == '.') {
      ++at_;
      spec.precision = std::max<int64_t>(0, number());
    }
    while (is_one_of("hlL", peek())) ++at_;
    spec.type = peek();
    ++at_;
    if (spec.type == '%') return void(out_.add("%"));
    if (value.is_missing()) value = next_value();
    write(value, spec, zero);
  }

  void write(const Value& value, FormatSpec& spec, bool zero) {
    switch (spec.type) {
      case 's':
      case 'r':
      case 'a': return write_text(spec.type == 's' ? to_text(runtime_, value) : repr(runtime_, value), value, spec);
      case 'c': return write_text(character(value), value, spec);
      case 'd':
      case 'i':
      case 'u':
      case 'x':
      case 'X':
      case 'o': return write_integer(value, spec, zero);
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G': return write_float(value, spec, zero);
      default: invalid("unsupported format character '{}'", printable(std::string_view(&spec.type, 1)));
    }
  }

  static std::string character(const Value& value) {
    if (value.is_string() && count_codepoints(text_of(value)) == 1) return text_of(value);
    if (!value.is_integral() || value.as_int() < 0 || value.as_int() > 0x10ffff) invalid("%c requires int or char");
    std::string out;
    append_utf8(out, uint32_t(value.as_int()));
    return out;
  }

  void write_text(std::string text, const Value& value, const FormatSpec& spec) {
    if (escapes_ && !is_markup(value)) text = escape_html(text);
    if (spec.precision >= 0) {
      size_t end = 0;
      for (int64_t i = 0; i < spec.precision && end < text.size(); ++i) end += size_t(decode_utf8(text, end).length);
      text.resize(end);
    }
    out_.add(align_text(text, spec, '>'));
  }

  void write_number(bool is_negative, std::string prefix, std::string digits, FormatSpec& spec, bool zero) {
    prefix = (is_negative ? "-" : spec.sign == '-' ? "" : std::string(1, spec.sign)) + prefix;
    if (!zero || spec.align == '<') return void(out_.add(align_text(prefix + digits, spec, '>')));
    spec.width -= int64_t(prefix.size());
    spec.fill = "0";
    out_.add(prefix).add(align_text(digits, spec, '>'));
  }

  void write_integer(const Value& value, FormatSpec& spec, bool zero) {
    require_defined(value);
    int64_t number = value.as_int();
    const bool is_decimal = spec.type == 'd' || spec.type == 'i' || spec.type == 'u';
    if (value.is(Kind::kFloat) && is_decimal && std::fabs(value.as_float()) < 9.2e18) {
      number = int64_t(value.as_float());
    } else if (!value.is_integral()) {
      invalid("%{} format: a real number is required, not {}", spec.type, type_name(value));
    }
    const uint64_t magnitude = number < 0 ? 0 - uint64_t(number) : uint64_t(number);
    std::string digits = integer_digits(magnitude, spec.type, false);
    if (spec.precision > int64_t(digits.size())) digits = Text().add(size_t(spec.precision) - digits.size(), '0').add(digits).take();
    write_number(number < 0, spec.is_alternate && !is_decimal ? std::string("0") + spec.type : "", digits, spec, zero);
  }

  void write_float(const Value& value, FormatSpec& spec, bool zero) {
    require_defined(value);
    if (!value.is_number()) invalid("%{} format: must be real number, not {}", spec.type, type_name(value));
    const double number = value.number();
    std::string digits = std::isfinite(number) ? float_digits(std::fabs(number), spec) : repr(std::fabs(number));
    if (spec.type < 'a') digits = to_upper(digits);
    write_number(std::signbit(number) && !std::isnan(number), "", digits, spec, zero && std::isfinite(number));
  }

  Runtime& runtime_;
  const std::string& text_;
  const Value& arguments_;
  const bool escapes_;
  Text out_;
  size_t at_ = 0;
  size_t next_ = 0;
  bool used_mapping_ = false;
};

}  // namespace

std::string percent_format(Runtime& runtime, const Value& string, const Value& arguments) {
  return PercentFormatter(runtime, string, arguments).run();
}

}  // namespace headrace::jinja
