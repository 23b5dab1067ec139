// Lines from a pipe, or from a terminal that cannot be drawn on: there editing is the terminal's own, and what the keys send that it does
// not know (arrows) is dropped.
#pragma once

#include <optional>
#include <string>

#include "cli/interrupt.h"

namespace headrace::cli {

// What came of waiting for a message.
struct Heard {
  enum Kind { kMessage, kInterrupt, kEnd } kind = kEnd;
  std::string text;
};

// What a person means by one message: a line that ends in a backslash goes on in the next, and """ ... """ holds any number of lines.
bool is_open(const std::string& text);
// The message once it is not open any more.
std::string finished(std::string text);

class LineReader {
 public:
  explicit LineReader(const Interrupt& interrupt) : interrupt_(interrupt) {}
  // Without its newline; nothing at the end of input, and when an interrupt came first.
  std::optional<std::string> line();
  // `on_continued` is called before each further line: it may show a prompt.
  template <typename Prompt>
  Heard message(Prompt&& on_continued) {
    std::optional<std::string> text = line();
    while (text && is_open(*text)) {
      on_continued();
      std::optional<std::string> more = line();
      text = more ? std::optional(join(std::move(*text), *more)) : std::nullopt;
    }
    if (text) return {Heard::kMessage, finished(std::move(*text))};
    return {interrupt_.requested() ? Heard::kInterrupt : Heard::kEnd, ""};
  }

 private:
  static std::string join(std::string text, const std::string& more);

  const Interrupt& interrupt_;
  std::string buffer_;
  bool ended_ = false;
};

}  // namespace headrace::cli
