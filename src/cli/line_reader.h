// Lines from the keyboard or a pipe. Editing is the terminal's own; what the keys send that it does not know (arrows) is dropped.
#pragma once

#include <optional>
#include <string>

#include "cli/interrupt.h"

namespace headrace::cli {

class LineReader {
 public:
  explicit LineReader(const Interrupt& interrupt) : interrupt_(interrupt) {}
  // Without its newline; nothing at the end of input, and when an interrupt came first.
  std::optional<std::string> line();
  // What a person means by one message: a line that ends in a backslash goes on in the next, and """ ... """ holds any number of lines.
  // `on_continued` is called before each further line: it may show a prompt.
  template <typename Prompt>
  std::optional<std::string> message(Prompt&& on_continued) {
    std::optional<std::string> text = line();
    while (text && is_open(*text)) {
      on_continued();
      std::optional<std::string> more = line();
      if (!more) return std::nullopt;
      text = join(std::move(*text), *more);
    }
    return text ? std::optional(finished(std::move(*text))) : std::nullopt;
  }

 private:
  static bool is_open(const std::string& text);
  static std::string join(std::string text, const std::string& more);
  static std::string finished(std::string text);

  const Interrupt& interrupt_;
  std::string buffer_;
  bool ended_ = false;
};

}  // namespace headrace::cli
