// Messages from a person at a terminal: edited over several rows, with a history, completion and pasting. Drawn anew after each burst of
// keys (only what of a long text the screen holds), by means that every terminal of today knows.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/chat_history.h"
#include "cli/edited_text.h"
#include "cli/interrupt.h"
#include "cli/key_reader.h"
#include "cli/line_reader.h"
#include "cli/terminal.h"

namespace headrace::cli {

class LineEditor {
 public:
  // All that a text up to the cursor may be completed to.
  using Completer = std::function<std::vector<std::string>(const std::string& text)>;
  struct Prompts {
    std::string first, further;  // before the first line and the others; equally wide, may hold colours
    int columns;
  };
  LineEditor(const Interrupt& interrupt, Prompts prompts, Completer complete, std::string history_path);

  // Keys are hidden again when it returns. Ctrl-D on an empty text, and a terminal that is gone, are the end.
  Heard read();
  // What was typed ahead is not meant any more.
  void forget_ahead();

 private:
  Heard edit();
  bool wait();  // false: the terminal is gone
  void apply(const KeyPress& press);
  bool enter();  // false: the text goes on
  std::string message() const;
  void complete();
  void recall(size_t entry);
  void draw();
  void leave(const std::string& mark = "");

  const Interrupt& interrupt_;
  Terminal terminal_;
  KeyReader keys_;
  Prompts prompts_;
  Completer complete_;
  ChatHistory history_;

  EditedText text_;
  std::string cut_;        // what Ctrl-Y puts back
  size_t entry_ = 0;       // of the history, shown now; its size: what is being written
  std::string draft_;      // that, while an entry is shown
  size_t top_ = 0;         // the first byte on the screen
  int cursor_row_ = 0;     // on the screen, from the first row drawn
  int drawn_columns_ = 0;  // when it was
};

}  // namespace headrace::cli
