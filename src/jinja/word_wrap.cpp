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
  const auto is_punctuated = [&](size_t i) {
    return i < end && (is_word(text[i]) || std::u32string_view(U"!\"'&.,?").find(text[i]) != std::u32string_view::npos);
  };
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

// A word, a part of one, or white space: [begin, end) of the text.
struct Chunk {
  size_t begin, end;
  size_t size() const { return end - begin; }
};

std::vector<Chunk> split_chunks(const Codepoints& text, bool breaks_on_hyphens) {
  std::vector<Chunk> chunks;
  for (size_t start = 0, end; start < text.size(); start = end) {
    end = start;
    const bool spaces = is_wrap_space(text[start]);
    while (end < text.size() && is_wrap_space(text[end]) == spaces) ++end;
    size_t from = start;
    if (!spaces && breaks_on_hyphens) {
      for (const size_t cut : hyphen_cuts(text, start, end))
        if (cut > from && cut < end) chunks.push_back({from, cut}), from = cut;
    }
    chunks.push_back({from, end});
  }
  return chunks;
}

// How much of a word that is longer than a line goes on this one: up to the last hyphen that fits, or all that fits.
size_t cut_of_long_word(const Codepoints& text, const Chunk& chunk, size_t room, bool breaks_on_hyphens) {
  if (!breaks_on_hyphens) return room;
  const auto begin = text.begin() + long(chunk.begin);
  for (size_t cut = room; cut > 1; --cut)
    if (begin[long(cut) - 1] == '-') return std::any_of(begin, begin + long(cut) - 1, [](uint32_t c) { return c != '-'; }) ? cut : room;
  return room;
}

}  // namespace

std::vector<std::string> wrap_words(Runtime& runtime, std::string_view paragraph, const WrapOptions& options) {
  const Codepoints text = decode(paragraph);
  std::vector<Chunk> chunks = split_chunks(text, options.breaks_on_hyphens);
  const auto is_blank = [&](const Chunk& c) { return std::all_of(text.begin() + long(c.begin), text.begin() + long(c.end), is_space); };
  const size_t width = size_t(options.width);
  std::vector<std::string> lines;
  for (size_t at = 0; at < chunks.size();) {
    runtime.step(8);  // a line takes that much memory
    std::vector<Chunk> line;
    size_t length = 0;
    if (!lines.empty() && is_blank(chunks[at])) ++at;
    while (at < chunks.size() && length + chunks[at].size() <= width) {
      length += chunks[at].size();
      line.push_back(chunks[at++]);
    }
    if (at < chunks.size() && chunks[at].size() > width) {
      Chunk& chunk = chunks[at];
      if (options.breaks_long_words) {
        const size_t cut = cut_of_long_word(text, chunk, width - length, options.breaks_on_hyphens);
        line.push_back({chunk.begin, chunk.begin + cut});
        chunk.begin += cut;
      } else if (line.empty()) {
        line.push_back(chunk);
        ++at;
      }
    }
    if (!line.empty() && is_blank(line.back())) line.pop_back();
    if (!line.empty()) lines.push_back(encode(&text[line.front().begin], line.back().end - line.front().begin));
  }
  return lines;
}

}  // namespace headrace::jinja
