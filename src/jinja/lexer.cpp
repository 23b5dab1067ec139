#include "jinja/lexer.h"

#include <algorithm>

#include "core/error.h"
#include "core/utf8.h"
#include "jinja/string_literal.h"
#include "jinja/template_error.h"
#include "jinja/unicode.h"

namespace headrace::jinja {
namespace {

std::string normalize_newlines(std::string_view source) {
  std::string out;
  out.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] != '\r') {
      out += source[i];
    } else {
      out += '\n';
      if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
    }
  }
  if (out.ends_with('\n')) out.pop_back();
  return out;
}

bool is_digit_char(char c) { return c >= '0' && c <= '9'; }

class Lexer {
 public:
  Lexer(std::string_view source, std::string_view name) : source_(normalize_newlines(source)), name_(name) {}

  std::vector<Token> run() {
    if (!is_valid_utf8(source_)) error("the template is not valid UTF-8");
    while (at_ < source_.size()) lex_text();
    push(TokenKind::kEnd, "");
    return std::move(tokens_);
  }

 private:
  [[noreturn]] void error(const std::string& message) const { throw TemplateError(ErrorCode::kInvalidArgument, name_, line_, message); }

  std::string_view rest(size_t from) const { return std::string_view(source_).substr(std::min(from, source_.size())); }
  bool starts(std::string_view what) const { return rest(at_).starts_with(what); }
  void push(TokenKind kind, std::string text) { tokens_.push_back({kind, line_, std::move(text)}); }

  // Moves to `end`, counting lines; a tag at the start of a line may be stripped on its left.
  void advance_to(size_t end) {
    line_ += int(std::count(source_.begin() + long(at_), source_.begin() + long(end), '\n'));
    at_line_start_ = end > 0 && source_[end - 1] == '\n';
    at_ = end;
  }

  size_t skip_spaces(size_t from) const {
    while (from < source_.size()) {
      const Utf8 c = decode_utf8(source_, from);
      if (!is_space(c.codepoint)) break;
      from += size_t(c.length);
    }
    return from;
  }

  // The text before a tag, as the tag's sign (or its absence) trims it.
  std::string_view trimmed(std::string_view text, char sign, bool is_expression) const {
    if (sign == '-') return strip(text, {.left = false});
    if (sign == '+' || is_expression) return text;
    const size_t line_start = text.rfind('\n') + 1;  // 0 when there is none
    if (line_start == 0 && !at_line_start_) return text;
    return strip(text.substr(line_start)).empty() ? text.substr(0, line_start) : text;
  }

  // `{% NAME %}` at `from` with any signs: where it ends and how it begins, or 0 when it is another tag.
  size_t match_bare_tag(size_t from, std::string_view word, char& sign, bool trims_newline) const {
    from += 2;
    sign = from < source_.size() && (source_[from] == '-' || source_[from] == '+') ? source_[from++] : '\0';
    from = skip_spaces(from);
    if (!rest(from).starts_with(word)) return 0;
    from = skip_spaces(from + word.size());
    if (rest(from).starts_with("-%}")) return skip_spaces(from + 3);
    if (trims_newline && rest(from).starts_with("+%}")) return from + 3;
    if (!rest(from).starts_with("%}")) return 0;
    return from + 2 + (trims_newline && rest(from + 2).starts_with("\n"));
  }

  void push_text(std::string_view text) {
    if (!text.empty()) push(TokenKind::kText, std::string(text));
  }

  void lex_text() {
    size_t tag = at_;
    while ((tag = source_.find('{', tag)) != source_.npos &&
           (tag + 1 >= source_.size() || std::string_view("%{#").find(source_[tag + 1]) == std::string_view::npos))
      ++tag;
    if (tag == source_.npos) {
      push_text(rest(at_));
      return advance_to(source_.size());
    }
    const std::string_view text = rest(at_).substr(0, tag - at_);
    const char type = source_[tag + 1];
    char sign = '\0';
    if (type == '%') {
      if (const size_t end = match_bare_tag(tag, "raw", sign, false)) {
        push_text(trimmed(text, sign, false));
        advance_to(end);
        return lex_raw();
      }
    }
    size_t body = tag + 2;
    sign = body < source_.size() && (source_[body] == '-' || source_[body] == '+') ? source_[body++] : '\0';
    push_text(trimmed(text, sign, type == '{'));
    advance_to(body);
    if (type == '#') return lex_comment();
    push(type == '{' ? TokenKind::kExpressionBegin : TokenKind::kTagBegin, "");
    lex_tag(type == '{');
  }

  void lex_raw() {
    for (size_t tag = at_; (tag = source_.find("{%", tag)) != source_.npos; ++tag) {
      char sign = '\0';
      const size_t end = match_bare_tag(tag, "endraw", sign, true);
      if (end == 0) continue;
      push_text(trimmed(rest(at_).substr(0, tag - at_), sign, false));
      return advance_to(end);
    }
    error("{% raw %} without {% endraw %}");
  }

  void lex_comment() {
    const size_t end = source_.find("#}", at_);
    if (end == source_.npos) error("a comment has no end: wanted '#}'");
    const char sign = end > at_ ? source_[end - 1] : '\0';
    advance_to(sign == '-' ? skip_spaces(end + 2) : end + 2 + (sign != '+' && rest(end + 2).starts_with("\n")));
  }

  // The end of a tag at at_, or 0.
  size_t match_end(bool is_expression) const {
    if (is_expression) return starts("-}}") ? skip_spaces(at_ + 3) : starts("}}") ? at_ + 2 : 0;
    if (starts("-%}")) return skip_spaces(at_ + 3);
    if (starts("+%}")) return at_ + 3;
    return starts("%}") ? at_ + 2 + rest(at_ + 2).starts_with("\n") : 0;
  }

  void lex_tag(bool is_expression) {
    std::string open;  // brackets waiting to be closed
    while (true) {
      advance_to(skip_spaces(at_));
      if (at_ >= source_.size()) error(is_expression ? "an expression has no end: wanted '}}'" : "a tag has no end: wanted '%}'");
      if (const size_t end = open.empty() ? match_end(is_expression) : 0) {
        push(is_expression ? TokenKind::kExpressionEnd : TokenKind::kTagEnd, "");
        return advance_to(end);
      }
      const char c = source_[at_];
      if (is_digit_char(c)) {
        lex_number();
      } else if (c == '\'' || c == '"') {
        lex_string(c);
      } else if (is_word(decode_utf8(source_, at_).codepoint)) {
        lex_name();
      } else {
        lex_symbol(open);
      }
    }
  }

  size_t skip_digits(size_t from, std::string_view allowed) const {
    while (from < source_.size() && (allowed.find(source_[from]) != allowed.npos || (source_[from] == '_' && from + 1 < source_.size() &&
                                                                                     allowed.find(source_[from + 1]) != allowed.npos)))
      ++from;
    return from;
  }

  void lex_number() {
    constexpr std::string_view kDecimal = "0123456789";
    const auto at = [&](size_t i) { return i < source_.size() ? source_[i] : '\0'; };
    size_t end = at_;
    TokenKind kind = TokenKind::kInteger;
    const char prefix = at(at_) == '0' ? char(at(at_ + 1) | 0x20) : '\0';
    const std::string_view digits = prefix == 'x' ? "0123456789abcdefABCDEF" : prefix == 'o' ? "01234567" : prefix == 'b' ? "01" : "";
    if (!digits.empty() && (end = skip_digits(at_ + 2, digits)) > at_ + 2) return push_number(kind, end);
    end = skip_digits(at_, kDecimal);
    const bool after_dot = at_ > 0 && source_[at_ - 1] == '.';
    if (!after_dot) {
      if (at(end) == '.' && is_digit_char(at(end + 1))) end = skip_digits(end + 1, kDecimal), kind = TokenKind::kFloat;
      if ((at(end) | 0x20) == 'e') {
        const size_t exponent = end + 1 + (at(end + 1) == '+' || at(end + 1) == '-');
        if (is_digit_char(at(exponent))) end = skip_digits(exponent, kDecimal), kind = TokenKind::kFloat;
      }
    }
    if (kind == TokenKind::kInteger && at(at_) == '0') end = skip_digits(at_, "0");  // 012 is 0 and 12, which the parser refuses
    push_number(kind, end);
  }

  void push_number(TokenKind kind, size_t end) {
    std::string digits = source_.substr(at_, end - at_);
    std::erase(digits, '_');
    push(kind, std::move(digits));
    advance_to(end);
  }

  void lex_string(char quote) {
    size_t end = at_ + 1;
    while (end < source_.size() && source_[end] != quote) end += source_[end] == '\\' ? 2 : 1;
    if (end >= source_.size()) error("a string has no end");
    std::string value;
    if (const char* problem = unescape(std::string_view(source_).substr(at_ + 1, end - at_ - 1), value)) error(problem);
    push(TokenKind::kString, std::move(value));
    advance_to(end + 1);
  }

  void lex_name() {
    size_t end = at_;
    while (end < source_.size() && is_word(decode_utf8(source_, end).codepoint)) end += size_t(decode_utf8(source_, end).length);
    push(TokenKind::kName, source_.substr(at_, end - at_));
    advance_to(end);
  }

  void lex_symbol(std::string& open) {
    constexpr std::string_view kDouble[] = {"//", "**", "==", "!=", ">=", "<="};
    for (const std::string_view symbol : kDouble) {
      if (!starts(symbol)) continue;
      push(TokenKind::kSymbol, std::string(symbol));
      return advance_to(at_ + 2);
    }
    const char c = source_[at_];
    if (std::string_view("+-/*%~[](){}><=.:|,;").find(c) == std::string_view::npos)
      error(fmt::format("unexpected character '{}'", printable(rest(at_).substr(0, size_t(decode_utf8(source_, at_).length)))));
    if (c == '(' || c == '[' || c == '{') open += c == '(' ? ')' : c == '[' ? ']' : '}';
    if (c == ')' || c == ']' || c == '}') {
      if (open.empty()) error(fmt::format("unexpected '{}'", c));
      if (open.back() != c) error(fmt::format("unexpected '{}', wanted '{}'", c, open.back()));
      open.pop_back();
    }
    push(TokenKind::kSymbol, std::string(1, c));
    advance_to(at_ + 1);
  }

  const std::string source_;
  const std::string_view name_;
  size_t at_ = 0;
  int line_ = 1;
  bool at_line_start_ = true;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokenize(std::string_view source, std::string_view name) { return Lexer(source, name).run(); }

}  // namespace headrace::jinja
