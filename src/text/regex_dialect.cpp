// Oniguruma's spelling into PCRE2's. The two differ in what \s, \w, \d, \h, \v and \b mean, in the names of properties, in classes
// inside classes ([a[bc]], [a&&b]), in {,n} and in (?m), which is PCRE2's (?s).
#include <algorithm>
#include <vector>

#include "core/error.h"
#include "text/regex.h"
#include "text/regex_names.h"

namespace headrace {
namespace {

constexpr int kMaxClassDepth = 16;

// One character, by what stands between brackets and by other ways to spell one.
struct Class {
  bool negated = false;
  std::string items;
  std::vector<std::string> others;  // patterns of one character each, which no items can say: [^\w]
  std::string conditions;           // lookaheads that must hold too
  bool is_plain() const { return others.empty() && conditions.empty(); }

  std::string as_atom() const {
    if (is_plain()) return (negated ? "[^" : "[") + items + "]";
    std::string any = items.empty() ? std::string() : "[" + items + "]";
    for (const std::string& other : others) any += (any.empty() ? "" : "|") + other;
    if (!others.empty()) any = "(?:" + any + ")";
    if (any.empty()) any = "(?!)";
    if (negated) return "(?:(?!" + conditions + any + ")(?s:.))";
    return conditions.empty() ? any : "(?:" + conditions + any + ")";
  }
};

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
      } else if (next_is("(?")) {
        out += group_options();
      } else if (next_is("{,")) {
        out += at_most();
      } else {
        out += c;
        ++at_;
      }
    }
    return out;
  }

 private:
  [[noreturn]] void unsupported(std::string_view what) const {
    fail(ErrorCode::kUnsupported, "{}: {} in the regular expression '{}'", where_, what, printable(pattern_, 200));
  }

  // An escape outside of a class.
  std::string escape() {
    const char c = escaped();
    if (const auto set = escaped_set(c, kWordsAlone)) {
      at_ += 2;
      return (set->negated ? "[^" : "[") + std::string(set->items) + "]";
    }
    if (c == 'b' || c == 'B') {
      at_ += 2;
      const std::string word = "[" + std::string(kWordsAlone) + "]";
      if (c == 'b') return "(?:(?<=" + word + ")(?!" + word + ")|(?<!" + word + ")(?=" + word + "))";
      return "(?:(?<=" + word + ")(?=" + word + ")|(?<!" + word + ")(?!" + word + "))";
    }
    if (c == 'O') return at_ += 2, "(?s:.)";
    if (is_property(c)) {
      const NamedSet set = property();
      if (set.is_property) return set.as_property();
      return (set.negated ? "[^" : "[") + set.items + "]";
    }
    return plain_escape();
  }

  void escape_in_class(Class& out) {
    const char c = escaped();
    if (const auto set = escaped_set(c, kWords)) {
      at_ += 2;
      return add({.items = std::string(set->items), .negated = set->negated}, out);
    }
    if (is_property(c)) return add(property(), out);
    out.items += plain_escape();
  }

  static void add(const NamedSet& set, Class& out) {
    if (set.is_property) {
      out.items += set.as_property();
    } else if (set.negated) {
      out.others.push_back("[^" + set.items + "]");
    } else {
      out.items += set.items;
    }
  }

  char escaped() const {
    if (at_ + 1 >= pattern_.size()) invalid("{}: the regular expression '{}' ends in a backslash", where_, printable(pattern_, 200));
    return pattern_[at_ + 1];
  }

  struct EscapedSet {
    std::string_view items;
    bool negated;
  };
  static std::optional<EscapedSet> escaped_set(char c, std::string_view words) {
    switch (c) {
      case 's': return EscapedSet{kSpaces, false};
      case 'S': return EscapedSet{kSpaces, true};
      case 'w': return EscapedSet{words, false};
      case 'W': return EscapedSet{words, true};
      case 'h': return EscapedSet{kHexDigits, false};
      case 'H': return EscapedSet{kHexDigits, true};
      default: return std::nullopt;
    }
  }

  // Escapes that mean the same in a class and outside.
  std::string plain_escape() {
    const char c = pattern_[at_ + 1];
    at_ += 2;
    if (c == 'd') return R"(\p{Nd})";
    if (c == 'D') return R"(\P{Nd})";
    if (c == 'v') return R"(\x0b)";
    if (c == 'p' || c == 'P') return {c};  // without braces it is that letter
    if (c == 'u') {
      const std::string_view digits = pattern_.substr(at_, 4);
      const auto is_hex = [](char d) { return (d >= '0' && d <= '9') || ((d | 32) >= 'a' && (d | 32) <= 'f'); };
      if (digits.size() < 4 || !std::all_of(digits.begin(), digits.end(), is_hex)) unsupported("\\u without four hexadecimal digits");
      at_ += 4;
      return fmt::format("\\x{{{}}}", digits);
    }
    return {'\\', c};
  }

  bool is_property(char c) const { return (c == 'p' || c == 'P') && pattern_.substr(at_ + 2, 1) == "{"; }

  // \p{Name}, \p{^Name}, \P{Name}
  NamedSet property() {
    const bool outer = pattern_[at_ + 1] == 'P';
    const size_t end = pattern_.find('}', at_);
    if (end == std::string_view::npos)
      invalid("{}: a property is not closed in the regular expression '{}'", where_, printable(pattern_, 200));
    std::string_view name = pattern_.substr(at_ + 3, end - at_ - 3);
    at_ = end + 1;
    const bool inner = name.starts_with('^');
    if (inner) name.remove_prefix(1);
    return find_property(name, outer != inner);
  }

  // [:alpha:], [:^alpha:]
  NamedSet posix_class() {
    const size_t end = pattern_.find(":]", at_);
    if (end == std::string_view::npos) unsupported("an open [:");
    std::string_view name = pattern_.substr(at_ + 2, end - at_ - 2);
    at_ = end + 2;
    const bool negated = name.starts_with('^');
    if (negated) name.remove_prefix(1);
    const auto set = find_posix_class(name, negated);
    if (!set) unsupported(fmt::format("the class [:{}:], which is not known here,", printable(name)));
    return *set;
  }

  Class character_class(int depth) {
    if (depth > kMaxClassDepth) invalid("{}: classes nested too deep in the regular expression", where_);
    Class result;
    ++at_;
    if (next_is("^")) result.negated = true, ++at_;
    if (next_is("]")) result.items += "\\]", ++at_;  // first in its class, a bracket is itself
    while (at_ < pattern_.size() && pattern_[at_] != ']') {
      if (next_is("[:")) {
        add(posix_class(), result);
      } else if (pattern_[at_] == '[') {
        const Class inner = character_class(depth + 1);
        if (inner.negated || !inner.is_plain()) {
          result.others.push_back(inner.as_atom());
        } else {
          result.items += inner.items;
        }
      } else if (next_is("&&")) {
        at_ += 2;
        result.conditions += intersection(depth);
      } else if (pattern_[at_] == '\\') {
        escape_in_class(result);
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
    if (pattern_.substr(at_, 1) == "[" && !next_is("[:")) {
      const std::string condition = "(?=" + character_class(depth + 1).as_atom() + ")";
      if (!next_is("]") && !next_is("&&")) unsupported("more than a class behind &&");
      return condition;
    }
    Class result;
    while (at_ < pattern_.size() && pattern_[at_] != ']' && !next_is("&&")) {
      if (next_is("[:")) {
        add(posix_class(), result);
      } else if (pattern_[at_] == '[') {
        unsupported("more than a class behind &&");
      } else if (pattern_[at_] == '\\') {
        escape_in_class(result);
      } else {
        result.items += pattern_[at_++];
      }
    }
    return "(?=" + result.as_atom() + ")";
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

  // {,3} is {0,3}
  std::string at_most() {
    size_t end = at_ + 2;
    while (end < pattern_.size() && pattern_[end] >= '0' && pattern_[end] <= '9') ++end;
    const bool counts = end > at_ + 2 && pattern_.substr(end, 1) == "}";
    at_ += 2;
    return counts ? "{0," : "{,";
  }

  bool next_is(std::string_view text) const { return pattern_.substr(at_, text.size()) == text; }

  std::string_view pattern_, where_;
  size_t at_ = 0;
};

}  // namespace

std::string translate_regex(std::string_view pattern, std::string_view where) { return Translator(pattern, where).run(); }

}  // namespace headrace
