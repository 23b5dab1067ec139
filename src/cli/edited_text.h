// A text with a cursor, and how it lies on a screen. Positions are bytes and stand between characters as people see them: a letter with its
// accents, an emoji with its modifiers (Unicode's grapheme clusters).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headrace::cli {

class EditedText {
 public:
  const std::string& text() const { return text_; }
  size_t cursor() const { return cursor_; }
  bool at_end() const { return cursor_ == text_.size(); }

  void set(std::string text);  // cursor behind it
  void insert(std::string_view text);
  // Takes out what lies between the cursor and `position`, and returns it.
  std::string cut_to(size_t position);
  void move_to(size_t position) { cursor_ = position; }

  // Positions, seen from the cursor.
  size_t left() const;
  size_t right() const;
  size_t word_left() const;
  size_t word_right() const;
  size_t line_begin() const;
  size_t line_end() const;
  // In the line above or below, as many characters from its begin; npos when there is none.
  size_t above() const;
  size_t below() const;

 private:
  size_t characters_into(size_t line, size_t count) const;

  std::string text_;
  size_t cursor_ = 0;
};

// A row of the screen: text[begin, end), `width` columns with its margin. `wraps`: the line goes on in the next row.
struct ScreenRow {
  size_t begin, end;
  int width;
  bool wraps;
};
struct ScreenText {
  std::vector<ScreenRow> rows;  // at least one; with a margin in front of the first row of every line
  int cursor_row = 0, cursor_column = 0;
};
ScreenText lay_out(const EditedText& text, int margin, int columns);
// What is shown for text[begin, end): a tab is spaces.
std::string shown(std::string_view text);

}  // namespace headrace::cli
