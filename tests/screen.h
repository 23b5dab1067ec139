// What a person sees: a terminal's screen, of as much of xterm's language as the program speaks. Breaks long lines as terminals do; does
// not break them anew when it is resized.
#pragma once

#include <utf8proc.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/utf8.h"

namespace headrace {

class Screen {
 public:
  Screen(int columns, int rows) : columns_(columns), cells_(size_t(rows), Row(size_t(columns), " ")) {}

  void write(std::string_view bytes) {
    pending_ += bytes;
    while (!pending_.empty())
      if (!step()) return;
  }
  void resize(int columns) {
    columns_ = columns;
    for (Row& row : cells_) row.resize(size_t(columns), " ");
    column_ = std::min(column_, columns - 1);
  }

  // Without the spaces at its end.
  std::string row(int i) const {
    std::string text;
    for (const std::string& cell : cells_[size_t(i)]) text += cell;
    return text.erase(text.find_last_not_of(' ') + 1);
  }
  std::string text() const {
    std::string text;
    for (int i = 0; i < int(cells_.size()); ++i) text += row(i) + "\n";
    return text.erase(text.find_last_not_of('\n') + 1);
  }
  int cursor_row() const { return row_; }
  int cursor_column() const { return column_; }
  std::string cursor_line() const { return row(row_); }
  bool marks_pastes() const { return marks_pastes_; }

 private:
  using Row = std::vector<std::string>;  // a cell is a character, or empty beside a wide one

  // False when the rest of a sequence is missing.
  bool step() {
    const char c = pending_[0];
    if (c == '\x1b') return sequence();
    if (c == '\r') column_ = 0, full_ = false;
    else if (c == '\n') line_feed();
    else if (static_cast<unsigned char>(c) >= 0x20) return character();
    pending_.erase(0, 1);
    return true;
  }

  void line_feed() {
    full_ = false;
    if (row_ + 1 < int(cells_.size())) ++row_;
    else cells_.erase(cells_.begin()), cells_.emplace_back(size_t(columns_), " ");
  }

  bool character() {
    const Utf8 c = decode_utf8(pending_, 0);
    if (c.truncated) return false;
    const std::string text = pending_.substr(0, size_t(c.length));
    pending_.erase(0, size_t(c.length));
    const int width = utf8proc_charwidth(int32_t(c.codepoint));
    if (width == 0) {
      if (column_ > 0 || full_) cells_[size_t(row_)][size_t(full_ ? column_ : column_ - 1)] += text;
      return true;
    }
    if (full_ || column_ + width > columns_) line_feed(), column_ = 0;
    for (int i = 0; i < width; ++i) cells_[size_t(row_)][size_t(column_ + i)] = i == 0 ? text : "";
    column_ += width;
    full_ = column_ >= columns_;
    if (full_) column_ = columns_ - 1;
    return true;
  }

  bool sequence() {
    size_t end = 2;
    while (end < pending_.size() && pending_[end] < 0x40) ++end;
    if (end >= pending_.size()) return false;
    const std::string parameters = pending_.substr(2, end - 2);
    const char final = pending_[end];
    pending_.erase(0, end + 1);
    const int n = std::max(1, std::atoi(parameters.c_str()));
    if (final != 'm' && final != 'h' && final != 'l') full_ = false;
    if (final == 'A') row_ = std::max(0, row_ - n);
    if (final == 'C') column_ = std::min(columns_ - 1, column_ + n);
    if (final == 'H') row_ = column_ = 0;
    if (final == 'K' || final == 'J')
      std::fill(cells_[size_t(row_)].begin() + (parameters == "2" ? 0 : column_), cells_[size_t(row_)].end(), " ");
    if (final == 'J')
      for (size_t i = parameters == "2" ? 0 : size_t(row_) + 1; i < cells_.size(); ++i) cells_[i].assign(size_t(columns_), " ");
    if (parameters == "?2004") marks_pastes_ = final == 'h';
    return true;
  }

  int columns_, row_ = 0, column_ = 0;
  bool full_ = false;  // the last column was written: the next character goes to the next row
  bool marks_pastes_ = false;
  std::vector<Row> cells_;
  std::string pending_;
};

}  // namespace headrace
