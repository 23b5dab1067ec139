#include "cli/key_reader.h"

#include <utility>

#include "cli/output.h"
#include "core/utf8.h"

namespace headrace::cli {
namespace {

constexpr std::string_view kPasteEnd = "\x1b[201~";
constexpr size_t kLongestSequence = 32;

constexpr bool is_control(char c) { return (c >= 0 && c < 0x20) || c == 0x7f; }
constexpr char control(char letter) { return char(letter & 0x1f); }

Key control_key(char c) {
  switch (c) {
    case '\r':
    case '\n': return Key::kEnter;
    case '\t': return Key::kComplete;
    case 0x7f:
    case control('h'): return Key::kBackspace;
    case control('a'): return Key::kBegin;
    case control('b'): return Key::kLeft;
    case control('c'): return Key::kInterrupt;
    case control('d'): return Key::kEndOfInput;
    case control('e'): return Key::kEnd;
    case control('f'): return Key::kRight;
    case control('k'): return Key::kCutToEnd;
    case control('l'): return Key::kRedraw;
    case control('n'): return Key::kNext;
    case control('p'): return Key::kPrevious;
    case control('u'): return Key::kCutToBegin;
    case control('w'): return Key::kCutWordLeft;
    case control('y'): return Key::kPutBack;
    case control('z'): return Key::kSuspend;
    default: return Key::kNone;
  }
}

// Alt with a letter.
Key alt_key(char c) {
  switch (c) {
    case '\r':
    case '\n': return Key::kNewLine;
    case 'b': return Key::kWordLeft;
    case 'f': return Key::kWordRight;
    case 'd': return Key::kCutWordRight;
    case 0x7f:
    case control('h'): return Key::kCutWordLeft;
    default: return Key::kNone;
  }
}

// "\x1b[" parameters final, or "\x1bO" final.
Key sequence_key(std::string_view parameters, char final) {
  const bool modified = parameters.ends_with(";5") || parameters.ends_with(";3");  // Ctrl, Alt
  switch (final) {
    case 'A': return Key::kUp;
    case 'B': return Key::kDown;
    case 'C': return modified ? Key::kWordRight : Key::kRight;
    case 'D': return modified ? Key::kWordLeft : Key::kLeft;
    case 'H': return Key::kBegin;
    case 'F': return Key::kEnd;
    case 'u': return parameters.starts_with("13;") ? Key::kNewLine : Key::kNone;  // Shift-Enter and its like, where it can be told
    case '~':
      if (parameters == "1" || parameters == "7") return Key::kBegin;
      if (parameters == "4" || parameters == "8") return Key::kEnd;
      if (parameters.starts_with('3')) return modified ? Key::kCutWordRight : Key::kDelete;
      return parameters.starts_with("27;") && parameters.ends_with(";13") ? Key::kNewLine : Key::kNone;
    default: return Key::kNone;
  }
}

}  // namespace

KeyPress KeyReader::take(size_t length, Key key) {
  buffer_.erase(0, length);
  return {key, ""};
}

std::optional<KeyPress> KeyReader::next() {
  if (pasting_) return pasted();
  if (buffer_.empty()) return std::nullopt;
  if (buffer_[0] == '\x1b') return escape();
  if (is_control(buffer_[0])) return take(1, control_key(buffer_[0]));
  size_t end = 0;
  while (end < buffer_.size() && !is_control(buffer_[end])) {
    const Utf8 c = decode_utf8(buffer_, end);
    if (c.truncated) break;  // the rest is on its way
    end += size_t(c.length);
  }
  if (end == 0) return std::nullopt;
  KeyPress typed{Key::kText, cleaned(std::string_view(buffer_).substr(0, end))};
  buffer_.erase(0, end);
  return typed;
}

std::optional<KeyPress> KeyReader::pasted() {
  const size_t end = buffer_.find(kPasteEnd, searched_);
  if (end == std::string::npos) {
    searched_ = buffer_.size() < kPasteEnd.size() ? 0 : buffer_.size() - kPasteEnd.size() + 1;
    return std::nullopt;
  }
  KeyPress paste{Key::kText, cleaned(std::string_view(buffer_).substr(0, end))};
  buffer_.erase(0, end + kPasteEnd.size());
  pasting_ = false, searched_ = 0;
  return paste;
}

std::optional<KeyPress> KeyReader::escape() {
  if (buffer_.size() < 2) return std::nullopt;
  if (buffer_[1] == '\x1b') return take(1, Key::kNone);
  if (buffer_[1] != '[' && buffer_[1] != 'O') return take(static_cast<unsigned char>(buffer_[1]) < 0x80 ? 2 : 1, alt_key(buffer_[1]));
  size_t end = 2;
  if (buffer_[1] == '[')
    while (end < buffer_.size() && end < kLongestSequence && (buffer_[end] < 0x40 || buffer_[end] > 0x7e)) ++end;
  if (end == kLongestSequence) return take(2, Key::kNone);
  if (end >= buffer_.size()) return std::nullopt;
  if (buffer_.compare(0, end + 1, "\x1b[[") == 0) {  // function keys of the Linux console
    if (end + 1 >= buffer_.size()) return std::nullopt;
    return take(end + 2, Key::kNone);
  }
  const std::string parameters = buffer_.substr(2, end - 2);
  const char final = buffer_[end];
  pasting_ = parameters == "200" && final == '~';
  return take(end + 1, pasting_ ? Key::kNone : sequence_key(parameters, final));
}

}  // namespace headrace::cli
