// Oniguruma's spelling into PCRE2's. The two differ in what \s, \w, \d and \h mean, in classes inside classes ([a[bc]], [a&&b])
// and in (?m), which is PCRE2's (?s).
#include "core/error.h"
#include "text/regex.h"

namespace headrace {
namespace {

constexpr int kMaxClassDepth = 16;
constexpr std::string_view kSpaces = R"(\t-\r \x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000})";
constexpr std::string_view kWords = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc})";

class Translator {
 public:
  Translator(std::string_view pattern, std::string_view where) : pattern_(pattern), where_(where) {}

  std::string run() {
    std::string out;
    while (at_ < pattern_.size()) {
      const char c = pattern_[at_];
      if (c == '\\') {
        out += escape();
      } else if (c == '[') {
        out += character_class(0).as_atom();
      } else if (pattern_.substr(at_, 2) == "(?") {
        out += group_options();
      } else {
        out += c;
        ++at_;
      }
    }
    return out;
  }

 private:
  // What stands between the brackets, and further conditions on the same character.
  struct Class {
    bool negated = false;
    std::string items, conditions;
    std::string body() const { return (negated ? "[^" : "[") + items + "]"; }
    std::string as_atom() const {
      if (conditions.empty()) return body();
      if (!negated) return "(?:" + conditions + body() + ")";
      return "(?:(?!" + conditions + "[" + items + "])(?s:.))";
    }
  };

  [[noreturn]] void unsupported(std::string_view what) const {
    fail(ErrorCode::kUnsupported, "{}: {} in the regular expression '{}'", where_, what, printable(pattern_, 200));
  }

  // An escape outside of a class.
  std::string escape() {
    if (at_ + 1 >= pattern_.size()) invalid("{}: the regular expression '{}' ends in a backslash", where_, printable(pattern_, 200));
    const char c = pattern_[at_ + 1];
    const auto set = [&](std::string_view open, std::string_view items) {
      at_ += 2;
      return std::string(open).append(items).append("]");
    };
    switch (c) {
      case 's': return set("[", kSpaces);
      case 'S': return set("[^", kSpaces);
      case 'w': return set("[", kWords);
      case 'W': return set("[^", kWords);
      case 'h': return set("[", "0-9a-fA-F");
      case 'H': return set("[^", "0-9a-fA-F");
      default: return plain_escape();
    }
  }

  std::string plain_escape() {
    const char c = pattern_[at_ + 1];
    at_ += 2;
    if (c == 'd') return R"(\p{Nd})";
    if (c == 'D') return R"(\P{Nd})";
    return {'\\', c};
  }

  std::string escape_in_class() {
    const std::string_view two = pattern_.substr(at_, 2);
    const auto items = [&](std::string_view text) {
      at_ += 2;
      return std::string(text);
    };
    if (two == "\\s") return items(kSpaces);
    if (two == "\\w") return items(kWords);
    if (two == "\\h") return items("0-9a-fA-F");
    if (two.size() < 2) invalid("{}: the regular expression '{}' ends in a backslash", where_, printable(pattern_, 200));
    return plain_escape();
  }

  Class character_class(int depth) {
    if (depth > kMaxClassDepth) invalid("{}: classes nested too deep in the regular expression", where_);
    Class result;
    ++at_;
    if (next_is("^")) result.negated = true, ++at_;
    if (next_is("]")) result.items += "\\]", ++at_;  // first in its class, a bracket is itself
    while (at_ < pattern_.size() && pattern_[at_] != ']') {
      if (pattern_.substr(at_, 2) == "[:") {
        const size_t end = pattern_.find(":]", at_);
        if (end == std::string_view::npos) unsupported("an open [: ");
        result.items += pattern_.substr(at_, end + 2 - at_);
        at_ = end + 2;
      } else if (pattern_[at_] == '[') {
        const Class inner = character_class(depth + 1);
        if (inner.negated || !inner.conditions.empty()) unsupported("a negated class inside a class");
        result.items += inner.items;
      } else if (pattern_.substr(at_, 2) == "&&") {
        at_ += 2;
        result.conditions += intersection(depth);
      } else if (pattern_[at_] == '\\') {
        result.items += escape_in_class();
      } else {
        result.items += pattern_[at_++];
      }
    }
    if (at_ >= pattern_.size()) invalid("{}: a class is not closed in the regular expression '{}'", where_, printable(pattern_, 200));
    ++at_;
    return result;
  }

  // What follows &&, up to the next && or the end of the class, as a lookahead.
  std::string intersection(int depth) {
    if (next_is("[")) {
      const std::string condition = "(?=" + character_class(depth + 1).as_atom() + ")";
      if (!next_is("]") && !next_is("&&")) unsupported("more than a class behind &&");
      return condition;
    }
    std::string items;
    while (at_ < pattern_.size() && pattern_[at_] != ']' && !next_is("&&")) {
      if (pattern_[at_] == '[') unsupported("more than a class behind &&");
      if (pattern_[at_] == '\\') {
        items += escape_in_class();
      } else {
        items += pattern_[at_++];
      }
    }
    return "(?=[" + items + "])";
  }

  // "(?im-x:" with m spelled s; other groups as they are.
  std::string group_options() {
    std::string out = "(?";
    at_ += 2;
    while (at_ < pattern_.size() && (pattern_[at_] == 'i' || pattern_[at_] == 'm' || pattern_[at_] == 'x' || pattern_[at_] == '-')) {
      out += pattern_[at_] == 'm' ? 's' : pattern_[at_];
      ++at_;
    }
    return out;
  }

  bool next_is(std::string_view text) const { return pattern_.substr(at_, text.size()) == text; }

  std::string_view pattern_, where_;
  size_t at_ = 0;
};

}  // namespace

std::string translate_regex(std::string_view pattern, std::string_view where) { return Translator(pattern, where).run(); }

}  // namespace headrace
