#define PCRE2_CODE_UNIT_WIDTH 8
#include "text/regex_names.h"

#include <pcre2.h>

#include <algorithm>

namespace headrace {
namespace {

struct Name {
  std::string_view name, items;
};

constexpr Name kPosix[] = {{"alnum", R"(\p{Alphabetic}\p{Nd})"},
                           {"alpha", R"(\p{Alphabetic})"},
                           {"ascii", R"(\x00-\x7f)"},
                           {"blank", R"(\t\p{Zs})"},
                           {"cntrl", R"(\p{Cc})"},
                           {"digit", R"(\p{Nd})"},
                           {"graph", R"(\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}\p{Co})"},
                           {"lower", R"(\p{Lowercase})"},
                           {"print", R"(\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}\p{Co}\p{Zs})"},
                           {"punct", R"(\p{P}\p{S})"},
                           {"space", kSpaces},
                           {"upper", R"(\p{Uppercase})"},
                           {"word", kWords},
                           {"xdigit", kHexDigits}};

// The general categories' long names; PCRE2 knows the short ones only.
constexpr Name kCategories[] = {{"casedletter", "L&"},
                                {"closepunctuation", "Pe"},
                                {"combiningmark", "M"},
                                {"connectorpunctuation", "Pc"},
                                {"control", "Cc"},
                                {"currencysymbol", "Sc"},
                                {"dashpunctuation", "Pd"},
                                {"decimalnumber", "Nd"},
                                {"enclosingmark", "Me"},
                                {"finalpunctuation", "Pf"},
                                {"format", "Cf"},
                                {"initialpunctuation", "Pi"},
                                {"lc", "L&"},
                                {"letter", "L"},
                                {"letternumber", "Nl"},
                                {"lineseparator", "Zl"},
                                {"lowercaseletter", "Ll"},
                                {"mark", "M"},
                                {"mathsymbol", "Sm"},
                                {"modifierletter", "Lm"},
                                {"modifiersymbol", "Sk"},
                                {"nonspacingmark", "Mn"},
                                {"number", "N"},
                                {"openpunctuation", "Ps"},
                                {"other", "C"},
                                {"otherletter", "Lo"},
                                {"othernumber", "No"},
                                {"otherpunctuation", "Po"},
                                {"othersymbol", "So"},
                                {"paragraphseparator", "Zp"},
                                {"privateuse", "Co"},
                                {"punctuation", "P"},
                                {"separator", "Z"},
                                {"spaceseparator", "Zs"},
                                {"spacingmark", "Mc"},
                                {"surrogate", "Cs"},
                                {"symbol", "S"},
                                {"titlecaseletter", "Lt"},
                                {"unassigned", "Cn"},
                                {"uppercaseletter", "Lu"}};

template <size_t N>
std::optional<std::string_view> find(const Name (&names)[N], std::string_view wanted) {
  const auto* found = std::find_if(std::begin(names), std::end(names), [&](const Name& name) { return name.name == wanted; });
  if (found == std::end(names)) return std::nullopt;
  return found->items;
}

// Case, spaces, hyphens and underscores do not count in the names of properties.
std::string loose(std::string_view name) {
  std::string out;
  for (const char c : name)
    if (c != ' ' && c != '-' && c != '_') out += c >= 'A' && c <= 'Z' ? static_cast<char>(c | 32) : c;
  return out;
}

bool is_script(const std::string& name) {
  if (name.empty() || !std::all_of(name.begin(), name.end(), [](char c) { return c >= 'a' && c <= 'z'; })) return false;
  const std::string pattern = "\\p{sc:" + name + "}";
  int error = 0;
  PCRE2_SIZE at = 0;
  pcre2_code* code =
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(), PCRE2_UTF | PCRE2_UCP, &error, &at, nullptr);
  pcre2_code_free(code);
  return code != nullptr;
}

}  // namespace

NamedSet find_property(std::string_view name, bool negated) {
  const std::string plain = loose(name);
  if (plain == "punct") return {.items = "P", .negated = negated, .is_property = true};  // in brackets symbols count too
  if (plain == "word") return {.items = std::string(kWordsAlone), .negated = negated};
  if (const auto items = find(kPosix, plain)) return {.items = std::string(*items), .negated = negated};
  if (const auto category = find(kCategories, plain)) return {.items = std::string(*category), .negated = negated, .is_property = true};
  // A script's name means that script; PCRE2 would add the characters that it shares with others.
  return {.items = (is_script(plain) ? "sc:" : "") + std::string(name), .negated = negated, .is_property = true};
}

std::optional<NamedSet> find_posix_class(std::string_view name, bool negated) {
  const auto items = find(kPosix, name);
  if (!items) return std::nullopt;
  return NamedSet{.items = std::string(*items), .negated = negated};
}

}  // namespace headrace
