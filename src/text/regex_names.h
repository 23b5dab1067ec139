// Names of sets of characters, as Oniguruma understands them, in PCRE2's spelling. Private to the translation of patterns.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace headrace {

// What stands between the brackets of a class.
inline constexpr std::string_view kSpaces = R"(\t-\r \x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000})";
inline constexpr std::string_view kHexDigits = "0-9a-fA-F";
inline constexpr std::string_view kWords = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc})";
// \w outside of a class, and the words of \b, hold the Latin-1 superscripts and fractions too.
inline constexpr std::string_view kWordsAlone = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\xb2\xb3\xb9\xbc-\xbe)";

struct NamedSet {
  std::string items;
  bool negated = false;
  bool is_property = false;  // the items are one property's name
  std::string as_property() const { return (negated ? "\\P{" : "\\p{") + items + "}"; }
};

// \p{name}. A name that is not known here is left to PCRE2, which then complains.
NamedSet find_property(std::string_view name, bool negated);
// [:name:]
std::optional<NamedSet> find_posix_class(std::string_view name, bool negated);

}  // namespace headrace
