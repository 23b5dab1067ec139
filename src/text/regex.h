// Regular expressions over UTF-8, written in the dialects of the tokenizers (Oniguruma with Ruby's syntax), run by PCRE2.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace headrace {

struct Match {
  size_t begin, end;
};

class Regex {
 public:
  // `where` names the pattern's owner in errors. Throws Error(kInvalidArgument) when the pattern does not compile,
  // Error(kUnsupported) when it uses a construct that has no equal here.
  Regex(std::string_view pattern, std::string_view where);

  // Appends every match, leftmost first, none overlapping; an empty match right behind the last one does not count.
  // `text` must be valid UTF-8. Throws Error(kInvalidArgument) when a match runs into its limits of memory or steps.
  void find_all(std::string_view text, std::vector<Match>& matches) const;

 private:
  struct Code;
  std::shared_ptr<const Code> code_;
};

// From Oniguruma's syntax to PCRE2's: \s \w \d \h, nested and intersected classes, (?m). Throws like the constructor.
std::string translate_regex(std::string_view pattern, std::string_view where);

}  // namespace headrace
