#include "cli/line_reader.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

namespace headrace::cli {
namespace {

constexpr std::string_view kFence = "\"\"\"";

// Keys without a character (arrows, F1, Alt-x) come as escape sequences. The terminal's own editing knows none of them.
std::string without_keys(const std::string& line) {
  std::string text;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\x1b') {
      text += line[i];
      continue;
    }
    const char kind = ++i < line.size() ? line[i] : 0;
    if (kind == 'O') ++i;
    else if (kind == '[')
      for (++i; i < line.size() && (line[i] < 0x40 || line[i] > 0x7e);) ++i;
  }
  return text;
}

}  // namespace

std::optional<std::string> LineReader::line() {
  for (;;) {
    const size_t end = buffer_.find('\n');
    if (end != std::string::npos || (ended_ && !buffer_.empty())) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end == std::string::npos ? end : end + 1);
      if (line.ends_with('\r')) line.pop_back();
      return ::isatty(STDIN_FILENO) ? without_keys(line) : line;
    }
    if (ended_) return std::nullopt;
    // Both are waited for at once: a signal that comes just before a read would not end it.
    pollfd waited[2] = {{STDIN_FILENO, POLLIN, 0}, {interrupt_.descriptor(), POLLIN, 0}};
    if (::poll(waited, 2, -1) < 0 && errno != EINTR) return std::nullopt;
    if (interrupt_.requested()) return std::nullopt;
    if (waited[0].revents == 0) continue;
    char bytes[4096];
    const ssize_t got = ::read(STDIN_FILENO, bytes, sizeof bytes);
    if (got < 0) return std::nullopt;
    ended_ = got == 0;
    buffer_.append(bytes, size_t(got));
  }
}

bool is_open(const std::string& text) {
  if (text.starts_with(kFence)) return text.find(kFence, kFence.size()) == std::string::npos;
  return text.ends_with('\\');
}

std::string LineReader::join(std::string text, const std::string& more) {
  if (!text.starts_with(kFence)) text.pop_back();
  return text + "\n" + more;
}

std::string finished(std::string text) {
  if (!text.starts_with(kFence)) return text;
  text.erase(text.find(kFence, kFence.size()));
  text.erase(0, kFence.size());
  if (text.starts_with('\n')) text.erase(0, 1);
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace headrace::cli
