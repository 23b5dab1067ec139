#include "text/decode_stages.h"

#include <cctype>
#include <utility>

#include "core/utf8.h"
#include "text/byte_alphabet.h"
#include "text/growth.h"
#include "text/model.h"

namespace headrace {
namespace {

constexpr std::string_view kPart = "decoder";
constexpr std::string_view kReplacementCharacter = "\xef\xbf\xbd";
// A run of byte tokens longer than this gives its valid beginning away, so that a stream of them does not stand still.
constexpr size_t kLongByteRun = 64;

size_t count_prefix(std::string_view text, std::string_view unit, size_t most) {
  size_t count = 0;
  while (count < most && !unit.empty() && text.substr(count * unit.size()).starts_with(unit)) ++count;
  return count;
}

size_t count_suffix(std::string_view text, std::string_view unit, size_t most) {
  size_t count = 0;
  for (; count < most && !unit.empty() && text.ends_with(unit); ++count) text.remove_suffix(unit.size());
  return count;
}

constexpr std::pair<std::string_view, std::string_view> kCleanup[] = {{" .", "."},     {" ?", "?"},     {" !", "!"},   {" ,", ","},
                                                                      {" ' ", "'"},    {" n't", "n't"}, {" 'm", "'m"}, {" 's", "'s"},
                                                                      {" 've", "'ve"}, {" 're", "'re"}};

// The tokenizers library cleans each token, with one rule more. It touches nothing that the others do.
std::string clean_token(std::string text) { return replace_all(clean_up_spaces(std::move(text)), " do not", " don't"); }

}  // namespace

std::string replace_all(std::string_view text, std::string_view pattern, std::string_view content) {
  std::string out;
  out.reserve(text.size());
  size_t from = 0;
  if (!pattern.empty()) {
    for (size_t at; (at = text.find(pattern, from)) != std::string_view::npos; from = at + pattern.size())
      check_growth(kPart, out.append(text.substr(from, at - from)).append(content).size(), text.size());
  }
  return out.append(text.substr(from));
}

std::string clean_up_spaces(std::string text) {
  if (text.find(' ') == std::string::npos) return text;
  for (const auto& [pattern, content] : kCleanup) text = replace_all(text, pattern, content);
  return text;
}

void FusedReplaceStage::token(std::string_view text) {
  held_ += text;
  const std::string_view all = held_;
  size_t from = 0;
  std::string out;
  for (size_t at; !pattern_.empty() && (at = all.find(pattern_, from)) != std::string_view::npos; from = at + pattern_.size())
    check_growth(kPart, out.append(all.substr(from, at - from)).append(content_).size(), all.size());
  const std::string_view rest = all.substr(from);
  size_t keep = std::min(rest.size(), pattern_.empty() ? 0 : pattern_.size() - 1);
  while (keep > 0 && !pattern_.starts_with(rest.substr(rest.size() - keep))) --keep;
  out.append(rest.substr(0, rest.size() - keep));
  held_ = std::string(rest.substr(rest.size() - keep));
  if (!out.empty()) put(out);
}

void RegexReplaceStage::token(std::string_view text) {
  if (!is_valid_utf8(text)) return put(text);
  std::vector<Match> matches;
  pattern_.find_all(text, matches);
  std::string out;
  size_t from = 0;
  for (const Match& match : matches) {
    check_growth(kPart, out.append(text.substr(from, match.begin - from)).append(content_).size(), text.size());
    from = match.end;
  }
  put(out.append(text.substr(from)));
}

void ByteRunStage::token(std::string_view text) {
  if (const auto byte = parse_byte_token(text)) {
    run_ += static_cast<char>(*byte);
    if (run_.size() <= kLongByteRun) return;
    size_t valid = 0;
    while (valid < run_.size() && decode_utf8(run_, valid).valid) valid += static_cast<size_t>(decode_utf8(run_, valid).length);
    put(run_.substr(0, valid));
    run_.erase(0, valid);
    return;
  }
  end_run();
  put(text);
}

void ByteRunStage::end_run() {
  if (run_.empty()) return;
  if (is_valid_utf8(run_)) {
    put(run_);
  } else {
    for (size_t i = 0; i < run_.size(); ++i) put(kReplacementCharacter);
  }
  run_.clear();
}

void ByteTokenStage::token(std::string_view text) {
  if (const auto byte = parse_byte_token(text)) {
    const char c = static_cast<char>(*byte);
    return put({&c, 1});
  }
  put(text);
}

void DropLeadingStage::token(std::string_view text) {
  if (!started_) {
    const bool marked = !mark_.empty() && text.starts_with(mark_);
    if (marked) text.remove_prefix(mark_.size());
    started_ = !text.empty() || (marked && !repeat_);
  }
  put(text);
}

void ByteLevelStage::token(std::string_view text) {
  if (const auto bytes = spelled_bytes(text)) return put(*bytes);
  put(text);
}

void StripStage::token(std::string_view text) {
  text.remove_prefix(count_prefix(text, content_, start_) * content_.size());
  text.remove_suffix(count_suffix(text, content_, stop_) * content_.size());
  put(text);
}

// Holds what may be stripped: at the start until something else comes, at the end as many as may still go.
void FusedStripStage::token(std::string_view text) {
  held_ += text;
  std::string_view rest = held_;
  while (start_ > 0 && !content_.empty() && rest.starts_with(content_)) rest.remove_prefix(content_.size()), --start_;
  if (start_ > 0 && rest.size() < content_.size() && content_.starts_with(rest)) {  // also when nothing is left
    held_ = std::string(rest);
    return;
  }
  start_ = 0;
  const size_t keep = std::min(rest.size(), stop_ * content_.size());
  if (rest.size() > keep) put(rest.substr(0, rest.size() - keep));
  held_ = std::string(rest.substr(rest.size() - keep));
}

void FusedStripStage::finish() {
  std::string_view rest = held_;
  rest.remove_suffix(count_suffix(rest, content_, stop_) * content_.size());
  put(rest);
}

void WordPieceStage::token(std::string_view text) {
  std::string out;
  if (!first_ && text.starts_with(options_.prefix)) {
    out = text.substr(options_.prefix.size());
  } else {
    if (!first_) out = " ";
    out += text;
  }
  first_ = false;
  put(options_.cleanup ? clean_token(std::move(out)) : out);
}

void WordSuffixStage::token(std::string_view text) {
  if (!held_.empty()) put(replace_all(held_, suffix_, " "));
  held_ = text;
}

void WordSuffixStage::finish() { put(replace_all(held_, suffix_, "")); }

void CtcStage::token(std::string_view text) {
  const bool repeated = !first_ && previous_ == text;
  first_ = false;
  if (repeated) return;
  previous_ = text;
  std::string out = replace_all(text, options_.pad, "");
  if (options_.cleanup) out = replace_all(clean_token(std::move(out)), options_.delimiter, " ");
  if (!out.empty()) put(out);
}

// Every rule begins at a space and looks at most three characters ahead, so a word that is followed by a space, or any text
// eight bytes behind the last space, is settled.
void CleanupStage::token(std::string_view text) {
  held_ += text;
  const size_t space = held_.rfind(' ');
  size_t settled = 0;
  if (space == std::string::npos || held_.size() - space > 8) {
    settled = held_.size();
  } else {
    for (size_t i = space; i > 0 && settled == 0 && space - i < 64; --i)
      if (held_[i] == ' ' && (held_[i - 1] & 0x80 || std::isalnum(static_cast<unsigned char>(held_[i - 1])))) settled = i;
  }
  if (settled == 0) return;
  put(clean_up_spaces(held_.substr(0, settled)));
  held_.erase(0, settled);
}

}  // namespace headrace
