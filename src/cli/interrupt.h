// Ctrl-C as a question instead of an end.
#pragma once

namespace headrace::cli {

// While one lives, the first SIGINT sets a flag; a second one before the flag is cleared ends the process as usual.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  bool requested() const;
  // Readable from the signal to clear(), for poll.
  int descriptor() const;
  void clear();
};

}  // namespace headrace::cli
