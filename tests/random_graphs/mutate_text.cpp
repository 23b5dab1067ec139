#include "random_graphs/mutate_text.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "headrace/types.h"

namespace headrace::fuzzing {
namespace {

struct Word {
  size_t begin, end;
};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '%' || c == '-'; }

template <typename Wanted>
std::vector<Word> words(const std::string& text, const Wanted& wanted) {
  std::vector<Word> found;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end > at && wanted(text.substr(at, end - at))) found.push_back({at, end});
    at = std::max(end, at + 1);
  }
  return found;
}

bool is_number(const std::string& word) { return std::isdigit(static_cast<unsigned char>(word[0])) || (word[0] == '-' && word.size() > 1); }
bool is_value(const std::string& word) { return word[0] == '%'; }
bool is_dtype(const std::string& word) { return parse_dtype(word).has_value(); }
bool is_name(const std::string& word) { return std::isalpha(static_cast<unsigned char>(word[0])) && !is_dtype(word); }

std::string replaced(const std::string& text, Word at, const std::string& by) {
  return text.substr(0, at.begin) + by + text.substr(at.end);
}

// A word of a kind becomes another of the same text.
template <typename Wanted>
std::string exchanged(const std::string& text, Random& random, const Wanted& wanted) {
  const std::vector<Word> found = words(text, wanted);
  if (found.empty()) return text;
  const Word from = random.pick(found);
  return replaced(text, random.pick(found), text.substr(from.begin, from.end - from.begin));
}

std::string with_other_lines(const std::string& text, Random& random) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  const size_t a = size_t(random.below(int64_t(lines.size()))), b = size_t(random.below(int64_t(lines.size())));
  switch (random.below(3)) {
    case 0: std::swap(lines[a], lines[b]); break;
    case 1: lines.erase(lines.begin() + int64_t(a)); break;
    default: lines.insert(lines.begin() + int64_t(a), lines[b]);
  }
  std::string joined;
  for (const std::string& line : lines) joined += line + "\n";
  return joined;
}

}  // namespace

std::string mutated(const std::string& text, Random& random) {
  static constexpr const char* kNumbers[] = {"0",
                                             "1",
                                             "2",
                                             "3",
                                             "-1",
                                             "-2",
                                             "7",
                                             "64",
                                             "n",
                                             "n*n",
                                             "4096",
                                             "2147483647",
                                             "2147483648",
                                             "nan",
                                             "inf",
                                             "-inf",
                                             "1e",
                                             "1e9",
                                             "-n+3*m",
                                             "4611686018427387904",
                                             "9223372036854775807",
                                             "-9223372036854775808",
                                             "true",
                                             "\"\"",
                                             "[]",
                                             "[1, 1]",
                                             "silu"};
  static constexpr const char* kTypes[] = {"f32", "f16", "bf16", "i64", "i32", "i8", "u8", "bool", "q8_0", "q4_0", "q6_K", "f64"};
  static constexpr char kCharacters[] = "{}[]()=,:%\"\\# \n*+-0n";
  switch (random.below(9)) {
    case 0:
    case 1:
      if (const std::vector<Word> found = words(text, is_number); !found.empty())
        return replaced(text, random.pick(found), random.pick(kNumbers));
      return text;
    case 2:
      if (const std::vector<Word> found = words(text, is_dtype); !found.empty())
        return replaced(text, random.pick(found), random.pick(kTypes));
      return text;
    case 3: return exchanged(text, random, is_value);
    case 4: return exchanged(text, random, is_name);
    case 5: return exchanged(text, random, is_number);
    case 6: return with_other_lines(text, random);
    case 7: {  // types of results no longer said, so that a change before can take effect
      std::string shorter = text;
      for (size_t at = 0; (at = shorter.find(") : ", at)) != std::string::npos;) shorter.erase(at + 1, shorter.find('\n', at) - at - 1);
      for (size_t at = 0; (at = shorter.find("} : ", at)) != std::string::npos;) shorter.erase(at + 1, shorter.find('\n', at) - at - 1);
      return shorter;
    }
    default: {
      std::string other = text;
      const size_t at = size_t(random.below(int64_t(text.size())));
      const char c = kCharacters[random.below(int64_t(sizeof kCharacters) - 1)];
      if (random.chance(0.5)) other[at] = c;
      else other.insert(at, 1, c);
      return other;
    }
  }
}

}  // namespace headrace::fuzzing
