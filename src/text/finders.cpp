// What pre-tokenizers look for: patterns, characters, and three patterns by hand that a regular expression finds in quadratic time.
#include "text/pre_tokenizer.h"
#include "text/unicode.h"

namespace headrace {
namespace {

// Calls f(begin of each character of the run..., end) for each longest run of characters of a class.
template <typename F>
void for_each_run(std::string_view text, bool (*is_member)(uint32_t), F&& f) {
  std::vector<size_t> starts;
  const auto finish = [&](size_t end, bool word_follows) {
    if (starts.empty()) return;
    starts.push_back(end);
    f(starts, word_follows);
    starts.clear();
  };
  for_each_character(text, [&](uint32_t c, size_t begin, size_t) {
    if (is_member(c)) {
      starts.push_back(begin);
    } else {
      finish(begin, is_word(c));
    }
  });
  finish(text.size(), false);
}

}  // namespace

Finder find_regex(Regex regex) {
  return [regex = std::move(regex)](std::string_view text, std::vector<Match>& matches) { regex.find_all(text, matches); };
}

Finder find_pattern(const std::string& pattern, std::string_view where) {
  if (pattern == R"(\d{1,3}(?=(?:\d{3})*\b))") return find_digit_groups();
  if (pattern == R"((?=(\d{3})+(?!\d)))") return find_digit_group_starts();
  if (pattern == R"(\s+$)") return find_trailing_whitespace();
  return find_regex(Regex(pattern, where));
}

Finder find_text(std::string wanted) {
  return [wanted = std::move(wanted)](std::string_view text, std::vector<Match>& matches) {
    if (wanted.empty()) return;
    size_t from = 0;
    for (size_t at; (at = text.find(wanted, from)) != std::string_view::npos; from = at + wanted.size())
      matches.push_back({at, at + wanted.size()});
  };
}

Finder find_characters(bool (*is_member)(uint32_t)) {
  return [is_member](std::string_view text, std::vector<Match>& matches) {
    for_each_character(text, [&](uint32_t c, size_t begin, size_t end) {
      if (is_member(c)) matches.push_back({begin, end});
    });
  };
}

// starts holds where each digit of the run begins, and the run's end.
Finder find_digit_groups() {
  return [](std::string_view text, std::vector<Match>& matches) {
    for_each_run(text, is_decimal, [&](const std::vector<size_t>& starts, bool word_follows) {
      if (word_follows) return;
      const size_t count = starts.size() - 1;
      for (size_t i = 0; i < count;) {
        const size_t size = i == 0 && count % 3 != 0 ? count % 3 : 3;
        matches.push_back({starts[i], starts[i + size]});
        i += size;
      }
    });
  };
}

Finder find_digit_group_starts() {
  return [](std::string_view text, std::vector<Match>& matches) {
    for_each_run(text, is_decimal, [&](const std::vector<size_t>& starts, bool) {
      const size_t count = starts.size() - 1;
      for (size_t i = count % 3; i < count; i += 3) matches.push_back({starts[i], starts[i]});
    });
  };
}

Finder find_trailing_whitespace() {
  return [](std::string_view text, std::vector<Match>& matches) {
    for_each_run(text, is_whitespace, [&](const std::vector<size_t>& starts, bool) {
      const size_t begin = starts.front();
      size_t end = starts.back();
      if (end < text.size()) {
        const size_t newline = text.substr(0, end).rfind('\n');
        if (newline == std::string_view::npos || newline <= begin) return;
        end = newline;
      }
      matches.push_back({begin, end});
    });
  };
}

}  // namespace headrace
