#include "cli/edited_text.h"

#include <utf8proc.h>

#include <algorithm>
#include <cctype>

#include "core/utf8.h"

namespace headrace::cli {
namespace {

constexpr int kTabColumns = 4;

struct Character {
  size_t end;
  int width;  // columns
};

// The character that begins at text[at]; at < text.size().
Character character(std::string_view text, size_t at) {
  Utf8 c = decode_utf8(text, at);
  Character whole{at + size_t(c.length), utf8proc_charwidth(int32_t(c.codepoint))};
  if (c.codepoint == '\t') whole.width = kTabColumns;
  if (c.codepoint < 0x80 && whole.end < text.size() && static_cast<unsigned char>(text[whole.end]) < 0x80) return whole;
  utf8proc_int32_t state = 0;
  while (whole.end < text.size()) {
    const Utf8 next = decode_utf8(text, whole.end);
    if (utf8proc_grapheme_break_stateful(int32_t(c.codepoint), int32_t(next.codepoint), &state)) break;
    whole.end += size_t(next.length);
    whole.width = std::max(whole.width, utf8proc_charwidth(int32_t(next.codepoint)));
    c = next;
  }
  return whole;
}

bool is_in_word(char c) { return static_cast<unsigned char>(c) >= 0x80 || std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

}  // namespace

std::string shown(std::string_view text) {
  std::string shown;
  for (char c : text) c == '\t' ? shown.append(kTabColumns, ' ') : shown += c;
  return shown;
}

// ---------------------------------------------------------------------------------------------------------------- the text

void EditedText::set(std::string text) {
  text_ = std::move(text);
  cursor_ = text_.size();
}

void EditedText::insert(std::string_view text) {
  text_.insert(cursor_, text);
  cursor_ += text.size();
}

std::string EditedText::cut_to(size_t position) {
  const size_t begin = std::min(position, cursor_), length = std::max(position, cursor_) - begin;
  std::string cut = text_.substr(begin, length);
  text_.erase(begin, length);
  cursor_ = begin;
  return cut;
}

size_t EditedText::line_begin() const {
  const size_t end = cursor_ == 0 ? std::string::npos : text_.rfind('\n', cursor_ - 1);
  return end == std::string::npos ? 0 : end + 1;
}

size_t EditedText::line_end() const { return std::min(text_.find('\n', cursor_), text_.size()); }

// Characters can only be told apart from a line's begin on.
size_t EditedText::left() const {
  size_t at = line_begin();
  if (at == cursor_) return at == 0 ? 0 : at - 1;
  for (size_t next; (next = character(text_, at).end) < cursor_;) at = next;
  return at;
}

size_t EditedText::right() const { return at_end() ? cursor_ : character(text_, cursor_).end; }

size_t EditedText::word_left() const {
  size_t at = cursor_;
  while (at > 0 && !is_in_word(text_[at - 1])) --at;
  while (at > 0 && is_in_word(text_[at - 1])) --at;
  return at;
}

size_t EditedText::word_right() const {
  size_t at = cursor_;
  while (at < text_.size() && !is_in_word(text_[at])) ++at;
  while (at < text_.size() && is_in_word(text_[at])) ++at;
  return at;
}

size_t EditedText::characters_into(size_t line, size_t count) const {
  for (; count > 0 && line < text_.size() && text_[line] != '\n'; --count) line = character(text_, line).end;
  return line;
}

size_t EditedText::above() const {
  const size_t begin = line_begin();
  if (begin == 0) return std::string::npos;
  size_t count = 0;
  for (size_t at = begin; at < cursor_; ++count) at = character(text_, at).end;
  const size_t end = begin < 2 ? std::string::npos : text_.rfind('\n', begin - 2);
  return characters_into(end == std::string::npos ? 0 : end + 1, count);
}

size_t EditedText::below() const {
  const size_t end = line_end();
  if (end == text_.size()) return std::string::npos;
  size_t count = 0;
  for (size_t at = line_begin(); at < cursor_; ++count) at = character(text_, at).end;
  return characters_into(end + 1, count);
}

// ---------------------------------------------------------------------------------------------------------------- the screen

ScreenText lay_out(const EditedText& edited, int margin, int columns) {
  const std::string& text = edited.text();
  ScreenText screen;
  ScreenRow row{0, 0, margin, false};
  const auto place_cursor = [&](size_t at, size_t next) {
    if (edited.cursor() >= at && edited.cursor() < next)
      screen.cursor_row = int(screen.rows.size()), screen.cursor_column = std::min(row.width, columns - 1);
  };
  const auto end_row = [&](bool wraps, size_t next) {
    row.wraps = wraps;
    screen.rows.push_back(row);
    row = {next, next, wraps ? 0 : margin, false};
  };
  for (size_t at = 0; at < text.size();) {
    if (text[at] == '\n') {
      place_cursor(at, at + 1);
      end_row(false, ++at);
      continue;
    }
    const Character c = character(text, at);
    if (row.width + c.width > columns) end_row(true, at);
    place_cursor(at, c.end);
    row.width += c.width;
    row.end = at = c.end;
  }
  if (row.width >= columns) end_row(true, text.size());  // the cursor needs a place
  place_cursor(text.size(), std::string::npos);
  screen.rows.push_back(row);
  return screen;
}

}  // namespace headrace::cli
