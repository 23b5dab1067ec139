// The terminal while a conversation lasts: keys are read one by one and not echoed. It is as it was whatever ends the program, SIGKILL
// apart.
#pragma once

namespace headrace::cli {

// One at a time, on standard input and output.
class Terminal {
 public:
  // Both are terminals, and TERM names one whose cursor can be moved.
  static bool can_edit();

  Terminal();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  // For editing: all keys arrive, Ctrl-C and Ctrl-Z too.
  void read_keys();
  // While something else goes on: Ctrl-C and Ctrl-Z are signals, and what is typed waits unseen until it is read.
  void hide_keys();
  // Ctrl-Z: gives the terminal back, stops until the program is continued, and reads keys again.
  void suspend();

  struct Size {
    int columns, rows;
  };
  Size size() const;
  // Readable when the terminal has another size, or the program was stopped and goes on, until acknowledged: time to draw anew.
  int changed_descriptor() const;
  // True when it was stopped.
  bool acknowledge_change();
};

// Gives the terminal back, if there is a Terminal. For handlers of signals that end the program.
void restore_terminal() noexcept;

}  // namespace headrace::cli
