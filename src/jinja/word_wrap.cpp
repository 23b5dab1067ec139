#include "jinja/word_wrap.h"

#include <algorithm>

#include "jinja/runtime.h"
#include "jinja/unicode.h"

namespace headrace::jinja {
namespace {

using Codepoints = std::vector<uint32_t>;

bool is_wrap_space(uint32_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_letter(uint32_t c) { return is_word(c) && !is_decimal(c) && c != '_'; }

// Where the word at [start, end) can be cut: after a hyphen between letters, and around dashes of two and more.
std::vector<size_t> hyphen_cuts(const Codepoints& text, size_t start, size_t end) {
  const auto is_punctuated = [&](size_t i) { return i < end && (is_word(text[i]) || std::u32string_view(U"!\"'&.,?").find(text[i]) != std::u32string_view::npos); };
  std::vector<size_t> cuts;
  for (size_t i = start; i < end; ++i) {
    if (text[i] != '-') continue;
    size_t last = i;
    while (last < end && text[last] == '-') ++last;
    if (last - i >= 2) {
      if (i > start && is_punctuated(i - 1) && last < end && is_word(text[last])) cuts.push_back(i), cuts.push_back(last);
    } else {
      const auto letters_at = [&](size_t k) { return k + 1 < end && is_letter(text[k]) && (is_letter(text[k + 1]) || text[k + 1] == '-'); };
      const bool before = i >= start + 2 && is_letter(text[i - 1]) && (is_letter(text[i - 2]) || text[i - 2] == '-');
      if (before && letters_at(last)) cuts.push_back(last);
    }
    i = last - 1;
  }
  return cuts;
}

std::vector<Codepoints> split_chunks(const Codepoints& text, bool breaks_on_hyphens) {
  std::vector<Codepoints> chunks;
  const auto add = [&](size_t from, size_t to) { chunks.emplace_back(text.begin() + long(from), text.begin() + long(to)); };
  for (size_t start = 0, end; start < text.size(); start = end) {
    end = start;
    const bool spaces = is_wrap_space(text[start]);
    while (end < text.size() && is_wrap_space(text[end]) == spaces) ++end;
    size_t from = start;
    if (!spaces && breaks_on_hyphens) {
      for (const size_t cut : hyphen_cuts(text, start, end)) {
        if (cut > from && cut < end) add(from, cut), from = cut;
      }
    }
    add(from, end);
  }
  return chunks;
}

bool is_blank(const Codepoints& chunk) { return std::all_of(chunk.begin(), chunk.end(), is_space); }

}  // namespace

std::vector<std::string> wrap_words(Runtime& runtime, std::string_view paragraph, const WrapOptions& options) {
  std::vector<Codepoints> chunks = split_chunks(decode(paragraph), options.breaks_on_hyphens);
  std::reverse(chunks.begin(), chunks.end());
  const size_t width = size_t(options.width);
  std::vector<std::string> lines;
  while (!chunks.empty()) {
    runtime.step();
    std::vector<Codepoints> line;
    size_t length = 0;
    if (!lines.empty() && is_blank(chunks.back())) chunks.pop_back();
    while (!chunks.empty() && length + chunks.back().size() <= width) {
      length += chunks.back().size();
      line.push_back(std::move(chunks.back()));
      chunks.pop_back();
    }
    if (!chunks.empty() && chunks.back().size() > width) {  // longer than any line
      Codepoints& chunk = chunks.back();
      if (options.breaks_long_words) {
        size_t cut = width - length;
        if (options.breaks_on_hyphens && chunk.size() > cut) {  // rather after the last hyphen that fits
          const auto begin = chunk.begin(), hyphen = std::find(std::make_reverse_iterator(begin + long(cut)), std::make_reverse_iterator(begin), uint32_t('-')).base();
          if (hyphen > begin + 1 && std::any_of(begin, hyphen - 1, [](uint32_t c) { return c != '-'; })) cut = size_t(hyphen - begin);
        }
        line.emplace_back(chunk.begin(), chunk.begin() + long(cut));
        chunk.erase(chunk.begin(), chunk.begin() + long(cut));
      } else if (line.empty()) {
        line.push_back(std::move(chunk));
        chunks.pop_back();
      }
    }
    if (!line.empty() && is_blank(line.back())) line.pop_back();
    if (line.empty()) continue;
    std::string text;
    for (const Codepoints& chunk : line) text += encode(chunk.data(), chunk.size());
    lines.push_back(std::move(text));
  }
  return lines;
}

}  // namespace headrace::jinja
