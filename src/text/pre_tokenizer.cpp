#include "text/pre_tokenizer.h"

#include <algorithm>
#include <memory>

#include "text/byte_alphabet.h"
#include "text/growth.h"
#include "text/unicode.h"

namespace headrace {
namespace {

struct Span {
  size_t begin, end;
  bool is_match;
};

// Matches and the gaps between them.
void cover(std::string_view text, const std::vector<Match>& matches, std::vector<Span>& spans) {
  size_t from = 0;
  for (const Match& match : matches) {
    if (match.begin > from) spans.push_back({from, match.begin, false});
    spans.push_back({match.begin, match.end, true});
    from = match.end;
  }
  if (from < text.size()) spans.push_back({from, text.size(), false});
}

// Joins spans in place, so that what is left are the pieces.
void join(std::vector<Span>& spans, SplitBehavior behavior) {
  size_t kept = 0;
  bool previous_match = false;
  const auto keep = [&](const Span& span) { spans[kept++] = span; };
  switch (behavior) {
    case SplitBehavior::kIsolated: return;
    case SplitBehavior::kRemoved:
      for (size_t i = 0; i < spans.size(); ++i)
        if (!spans[i].is_match) keep(spans[i]);
      break;
    case SplitBehavior::kContiguous:
      for (size_t i = 0; i < spans.size(); ++i) {
        if (kept > 0 && spans[kept - 1].is_match == spans[i].is_match) {
          spans[kept - 1].end = spans[i].end;
        } else {
          keep(spans[i]);
        }
      }
      break;
    case SplitBehavior::kMergedWithPrevious:
      for (size_t i = 0; i < spans.size(); ++i) {
        const bool is_match = spans[i].is_match;
        if (is_match && !previous_match && kept > 0) {
          spans[kept - 1].end = spans[i].end;
        } else {
          keep(spans[i]);
        }
        previous_match = is_match;
      }
      break;
    case SplitBehavior::kMergedWithNext: {
      size_t first = spans.size();
      for (size_t i = spans.size(); i-- > 0;) {
        const Span span = spans[i];
        if (span.is_match && !previous_match && first < spans.size()) {
          spans[first].begin = span.begin;
        } else {
          spans[--first] = span;
        }
        previous_match = span.is_match;
      }
      spans.erase(spans.begin(), spans.begin() + static_cast<std::ptrdiff_t>(first));
      return;
    }
  }
  spans.resize(kept);
}

size_t total_size(const PieceList& list) {
  size_t size = 0;
  for (const Piece& piece : list.pieces) size += piece.text.size();
  return size;
}

// The pieces with `f` applied to the text of each; f appends to the buffer, at most `capacity` bytes in all.
template <typename F>
void rewrite(PieceList& list, size_t capacity, F&& f) {
  const size_t before = total_size(list);
  if (!list.buffers.empty() || capacity / 4 > before) check_growth("pre-tokenizer", capacity, before);  // once and little: any length
  std::string& buffer = list.buffers.emplace_back();
  buffer.reserve(capacity);
  for (Piece& piece : list.pieces) {
    const size_t begin = buffer.size();
    f(buffer, piece);
    piece.text = std::string_view(buffer.data() + begin, buffer.size() - begin);
  }
}

}  // namespace

PreTokenizer split(Finder finder, SplitBehavior behavior, SplitOn on) {
  return [finder = std::move(finder), behavior, on](PieceList& list) {
    std::vector<Piece> cut;
    cut.reserve(list.pieces.size());
    std::vector<Match> matches;
    std::vector<Span> spans;
    for (const Piece& piece : list.pieces) {
      matches.clear();
      spans.clear();
      finder(piece.text, matches);
      cover(piece.text, matches, spans);
      if (on == SplitOn::kGaps)
        for (Span& span : spans) span.is_match = !span.is_match;
      join(spans, behavior);
      for (const Span& span : spans)
        if (span.end > span.begin) cut.push_back({piece.text.substr(span.begin, span.end - span.begin), piece.at_start && span.begin == 0});
    }
    list.pieces = std::move(cut);
  };
}

PreTokenizer fixed_length(size_t num_characters) {
  return split(
      [num_characters](std::string_view text, std::vector<Match>& matches) {
        size_t begin = 0, count = 0;
        for_each_character(text, [&](uint32_t, size_t, size_t end) {
          if (++count % num_characters == 0 || end == text.size()) matches.push_back({begin, end}), begin = end;
        });
      },
      SplitBehavior::kIsolated);
}

PreTokenizer byte_level(ByteLevelOptions options) {
  const auto cut = options.use_regex ? split(find_regex(Regex(kGpt2Pattern, "ByteLevel")), SplitBehavior::kIsolated) : PreTokenizer();
  return [options, cut](PieceList& list) {
    if (options.add_prefix_space) {
      rewrite(list, total_size(list) + list.pieces.size(), [](std::string& out, const Piece& piece) {
        if (!piece.text.starts_with(' ')) out += ' ';
        out += piece.text;
      });
    }
    if (cut) cut(list);
    rewrite(list, total_size(list) * 2, [](std::string& out, const Piece& piece) { append_byte_alphabet(out, piece.text); });
  };
}

PreTokenizer metaspace(MetaspaceOptions options) {
  PreTokenizer cut;
  if (options.split) cut = split(find_text(options.replacement), SplitBehavior::kMergedWithNext);
  return [options = std::move(options), cut](PieceList& list) {
    const std::string& mark = options.replacement;
    size_t marks = list.pieces.size();  // at most
    for (const Piece& piece : list.pieces) marks += static_cast<size_t>(std::count(piece.text.begin(), piece.text.end(), ' '));
    rewrite(list, total_size(list) + marks * mark.size(), [&](std::string& out, const Piece& piece) {
      const bool wanted = options.prepend == PrependScheme::kAlways || (options.prepend == PrependScheme::kFirst && piece.at_start);
      if (wanted && !piece.text.starts_with(' ') && !piece.text.starts_with(mark)) out += mark;
      for (const char c : piece.text) {
        if (c == ' ') {
          out += mark;
        } else {
          out += c;
        }
      }
    });
    if (cut) cut(list);
  };
}

}  // namespace headrace
