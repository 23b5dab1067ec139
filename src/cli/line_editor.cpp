#include "cli/line_editor.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "cli/output.h"

namespace headrace::cli {
namespace {

constexpr int kEscapeMs = 100;  // a sequence arrives at once, or in pieces from far away

std::string common_prefix(const std::vector<std::string>& words) {
  std::string prefix = words.front();
  for (const std::string& word : words)
    prefix.erase(size_t(std::mismatch(prefix.begin(), prefix.end(), word.begin(), word.end()).first - prefix.begin()));
  return prefix;
}

std::string up(int rows) { return rows > 0 ? "\033[" + std::to_string(rows) + "A" : ""; }
std::string right(int columns) { return columns > 0 ? "\033[" + std::to_string(columns) + "C" : ""; }

}  // namespace

LineEditor::LineEditor(const Interrupt& interrupt, Prompts prompts, Completer complete, std::string history_path)
    : interrupt_(interrupt), prompts_(std::move(prompts)), complete_(std::move(complete)), history_(std::move(history_path)) {}

Heard LineEditor::read() {
  terminal_.read_keys();
  terminal_.acknowledge_change();
  text_.set("");
  draft_.clear();
  entry_ = history_.entries().size();
  top_ = 0, cursor_row_ = 0;
  Heard heard = edit();
  terminal_.hide_keys();
  if (heard.kind == Heard::kMessage) history_.add(heard.text);
  return heard;
}

Heard LineEditor::edit() {
  for (;;) {
    while (const std::optional<KeyPress> press = keys_.next()) {
      if (press->key == Key::kInterrupt) return leave("^C"), Heard{Heard::kInterrupt, ""};
      if (press->key == Key::kEndOfInput && text_.text().empty()) return leave(), Heard{Heard::kEnd, ""};
      if (press->key == Key::kEnter && enter()) return leave(), Heard{Heard::kMessage, message()};
      apply(*press);
    }
    draw();
    if (!wait()) return {Heard::kEnd, ""};
    if (interrupt_.requested()) return leave("^C"), Heard{Heard::kInterrupt, ""};
  }
}

bool LineEditor::wait() {
  for (;;) {
    pollfd waited[] = {{STDIN_FILENO, POLLIN, 0}, {interrupt_.descriptor(), POLLIN, 0}, {terminal_.changed_descriptor(), POLLIN, 0}};
    const int ready = ::poll(waited, 3, keys_.holds_escape() ? kEscapeMs : -1);
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return false;
    if (ready == 0) keys_.forget();
    if (waited[2].revents) {
      if (terminal_.acknowledge_change()) cursor_row_ = 0;  // others have written since
      terminal_.read_keys();                                // whoever had the terminal meanwhile may have left it otherwise
    }
    if (waited[0].revents) {
      char bytes[1 << 16];
      const ssize_t got = ::read(STDIN_FILENO, bytes, sizeof bytes);
      if (got <= 0 && errno != EINTR) return false;
      keys_.feed({bytes, size_t(std::max<ssize_t>(got, 0))});
    }
    return true;
  }
}

void LineEditor::forget_ahead() { keys_.forget(); }

// ---------------------------------------------------------------------------------------------------------------- keys

void LineEditor::apply(const KeyPress& press) {
  const auto cut = [this](size_t to) {
    if (to != text_.cursor()) cut_ = text_.cut_to(to);
  };
  switch (press.key) {
    case Key::kText: return text_.insert(press.text);
    case Key::kNewLine: return text_.insert("\n");
    case Key::kLeft: return text_.move_to(text_.left());
    case Key::kRight: return text_.move_to(text_.right());
    case Key::kWordLeft: return text_.move_to(text_.word_left());
    case Key::kWordRight: return text_.move_to(text_.word_right());
    case Key::kBegin: return text_.move_to(text_.line_begin());
    case Key::kEnd: return text_.move_to(text_.line_end());
    case Key::kBackspace: text_.cut_to(text_.left()); return;
    case Key::kDelete:
    case Key::kEndOfInput: text_.cut_to(text_.right()); return;
    case Key::kCutWordLeft: return cut(text_.word_left());
    case Key::kCutWordRight: return cut(text_.word_right());
    case Key::kCutToBegin: return cut(text_.line_begin());
    case Key::kCutToEnd: return cut(text_.line_end());
    case Key::kPutBack: return text_.insert(cut_);
    case Key::kUp:
      if (const size_t above = text_.above(); above != std::string::npos) return text_.move_to(above);
      [[fallthrough]];
    case Key::kPrevious: return recall(entry_ - 1);
    case Key::kDown:
      if (const size_t below = text_.below(); below != std::string::npos) return text_.move_to(below);
      [[fallthrough]];
    case Key::kNext: return recall(entry_ + 1);
    case Key::kComplete: return complete();
    case Key::kRedraw:
      write_output("\033[H\033[2J");
      cursor_row_ = 0;
      return;
    case Key::kSuspend:
      leave("^Z");
      terminal_.suspend();
      return;
    case Key::kEnter:
    case Key::kInterrupt:
    case Key::kNone: return;
  }
}

bool LineEditor::enter() {
  if (!is_open(text_.text())) return true;
  text_.move_to(text_.text().size());
  if (text_.text().ends_with('\\')) text_.cut_to(text_.left());
  text_.insert("\n");
  return false;
}

// Line ends at its end are what a paste brings along; and a pasted text that only begins as a fenced one does is no fenced one.
std::string LineEditor::message() const {
  std::string text = text_.text();
  text.erase(text.find_last_not_of('\n') + 1);
  return text.ends_with("\"\"\"") ? finished(std::move(text)) : text;
}

// Entries around those that there are (size_t(-1), one too many) are none.
void LineEditor::recall(size_t entry) {
  const std::vector<std::string>& entries = history_.entries();
  if (entry > entries.size()) return;
  if (entry_ == entries.size()) draft_ = text_.text();
  entry_ = entry;
  text_.set(entry == entries.size() ? draft_ : entries[entry]);
}

void LineEditor::complete() {
  if (!text_.at_end() || text_.text().empty()) return;
  const std::vector<std::string> all = complete_(text_.text());
  if (all.empty()) return;
  if (const std::string prefix = common_prefix(all); prefix.size() > text_.text().size()) return text_.set(prefix);
  if (all.size() == 1) return;
  leave();
  std::string list;
  for (const std::string& word : all) list += (list.empty() ? "" : "  ") + word;
  write_output(list + "\n");
}

// ---------------------------------------------------------------------------------------------------------------- drawing

void LineEditor::draw() {
  const Terminal::Size size = terminal_.size();
  const ScreenText screen = lay_out(text_, std::min(prompts_.columns, size.columns - 2), size.columns);
  const auto row_of = [&](size_t byte) {
    int row = 0;
    while (row + 1 < int(screen.rows.size()) && screen.rows[size_t(row) + 1].begin <= byte) ++row;
    return row;
  };
  // A terminal of another width has broken the lines anew, by itself.
  if (std::exchange(drawn_columns_, size.columns) != size.columns) cursor_row_ = std::max(0, screen.cursor_row - row_of(top_));
  // As many rows as the screen has, the cursor's among them, moved as little as can be.
  int first = std::clamp(row_of(top_), screen.cursor_row - size.rows + 1, screen.cursor_row);
  first = std::max(0, std::min(first, int(screen.rows.size()) - size.rows));
  const int last = std::min(int(screen.rows.size()), first + size.rows) - 1;
  top_ = screen.rows[size_t(first)].begin;

  std::string out = "\033[?25l" + up(cursor_row_) + "\r";
  for (int i = first; i <= last; ++i) {
    const ScreenRow& row = screen.rows[size_t(i)];
    const bool begins_line = i == 0 || !screen.rows[size_t(i) - 1].wraps;
    if (begins_line) out += i == 0 ? prompts_.first : prompts_.further;
    out += shown(std::string_view(text_.text()).substr(row.begin, row.end - row.begin));
    if (row.wraps) out.append(size_t(std::max(0, size.columns - row.width)), ' ');
    else if (row.width < size.columns) out += "\033[K";  // beyond a full row it would hit the last character
    if (i == last) break;
    // The terminal itself breaks a line that it shall know as one; an empty row needs a character for that.
    if (!row.wraps) out += "\r\n";
    else if (screen.rows[size_t(i) + 1].begin == screen.rows[size_t(i) + 1].end) out += " \r";
  }
  if (!screen.rows[size_t(last)].wraps && screen.rows[size_t(last)].width < size.columns) out += "\033[J";
  cursor_row_ = screen.cursor_row - first;
  out += up(last - screen.cursor_row) + "\r" + right(screen.cursor_column) + "\033[?25h";
  write_output(out);
}

// Below the text, which stays on the screen.
void LineEditor::leave(const std::string& mark) {
  text_.move_to(text_.text().size());
  draw();
  write_output(mark + "\n");
  top_ = 0, cursor_row_ = 0;
}

}  // namespace headrace::cli
