// What a terminal sends, as keys: UTF-8, control characters, escape sequences (xterm's, which all terminals of today follow), and pasted
// texts between marks.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace headrace::cli {

// clang-format off
enum class Key {
  kText,  // typed characters, or a pasted text
  kEnter, kNewLine,
  kLeft, kRight, kWordLeft, kWordRight, kBegin, kEnd, kUp, kDown, kPrevious, kNext,
  kBackspace, kDelete, kCutWordLeft, kCutWordRight, kCutToBegin, kCutToEnd, kPutBack,
  kComplete, kRedraw, kInterrupt, kEndOfInput, kSuspend,
  kNone,  // one that means nothing here
};
// clang-format on

struct KeyPress {
  Key key;
  std::string text;  // of kText, cleaned
};

class KeyReader {
 public:
  void feed(std::string_view bytes) { buffer_ += bytes; }
  // The next key; nothing while it has not wholly arrived.
  std::optional<KeyPress> next();
  // An escape character has come, and whatever it begins has not: after a while it was the escape key.
  bool holds_escape() const { return !pasting_ && buffer_ == "\x1b"; }
  void forget() { buffer_.clear(), searched_ = 0, pasting_ = false; }

 private:
  std::optional<KeyPress> pasted();
  std::optional<KeyPress> escape();
  KeyPress take(size_t length, Key key);

  std::string buffer_;
  bool pasting_ = false;
  size_t searched_ = 0;  // bytes of buffer_ in which no paste ends
};

}  // namespace headrace::cli
