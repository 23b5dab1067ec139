// Pre-tokenizers: functions that cut the pieces of a text further, or rewrite them. No token spans two pieces.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "text/regex.h"

namespace headrace {

struct Piece {
  std::string_view text;
  bool at_start = false;  // the piece begins where the whole input begins
};

// Pieces, and the rewritten text that they may look into.
struct PieceList {
  std::vector<Piece> pieces;
  std::deque<std::string> buffers;
};

using PreTokenizer = std::function<void(PieceList&)>;
// Appends the matches in a text, in order and not overlapping.
using Finder = std::function<void(std::string_view text, std::vector<Match>& matches)>;

// What becomes of a match: dropped, a piece of its own, joined to a neighbour; kContiguous joins matches that touch.
enum class SplitBehavior { kRemoved, kIsolated, kMergedWithPrevious, kMergedWithNext, kContiguous };

Finder find_regex(Regex regex);
// The same from a pattern's text; a few known ones are found by hand, in linear time.
Finder find_pattern(const std::string& pattern, std::string_view where);
Finder find_text(std::string text);
Finder find_characters(bool (*is_member)(uint32_t));  // each character of the class is a match
// Digits in threes counted from the end of their run, where no word character follows it: 1234567 is 1 234 567.
Finder find_digit_groups();
Finder find_digit_group_starts();   // empty matches where such a group begins, unless a digit follows the run
Finder find_trailing_whitespace();  // whitespace up to the end of a line

// With kGaps, what lies between the matches plays their part, and they that of the text between.
enum class SplitOn { kMatches, kGaps };
PreTokenizer split(Finder finder, SplitBehavior behavior, SplitOn on = SplitOn::kMatches);
PreTokenizer fixed_length(size_t num_characters);

struct ByteLevelOptions {
  bool add_prefix_space = false;  // to each piece that does not begin with one
  bool use_regex = true;          // cut as GPT-2 does
};
PreTokenizer byte_level(ByteLevelOptions options);

enum class PrependScheme { kNever, kFirst, kAlways };
struct MetaspaceOptions {
  std::string replacement = "\xe2\x96\x81";  // U+2581, in place of a space
  PrependScheme prepend = PrependScheme::kAlways;
  bool split = true;  // a piece begins at every replacement
};
PreTokenizer metaspace(MetaspaceOptions options);

inline constexpr std::string_view kGpt2Pattern = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

}  // namespace headrace
