#include "cli/output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/error.h"
#include "core/utf8.h"

namespace headrace::cli {
namespace {

constexpr size_t kMostText = size_t{1} << 30;

std::string read_all(int fd, const std::string& where) {
  std::string text;
  for (char buffer[1 << 16];;) {
    const ssize_t got = ::read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) invalid("{}: cannot be read: {}", where, std::strerror(errno));
    if (got == 0) return text;
    if (text.size() + size_t(got) > kMostText) invalid("{}: has more than 1 GiB of text; give less", where);
    text.append(buffer, size_t(got));
  }
}

}  // namespace

void write_output(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EPIPE) throw OutputClosed();
    if (written < 0) invalid("standard output cannot be written: {}", std::strerror(errno));
    text.remove_prefix(size_t(written));
  }
}

void write_text(std::string_view text) { output_is_terminal() ? write_output(cleaned(text)) : write_output(text); }

std::string cleaned(std::string_view text) {
  std::string clean;
  for (size_t i = 0; i < text.size();) {
    const Utf8 c = decode_utf8(text, i);
    i += size_t(c.length);
    if (c.codepoint == '\r') clean += '\n', i += i < text.size() && text[i] == '\n';
    else if (c.codepoint == '\n' || c.codepoint == '\t' || (c.codepoint >= 0x20 && (c.codepoint < 0x7f || c.codepoint > 0x9f)))
      append_utf8(clean, c.codepoint);
  }
  return clean;
}

std::string read_input() { return read_all(STDIN_FILENO, "standard input"); }

std::string read_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail(ErrorCode::kNotFound, "{}: cannot be opened: {}", printable(path, 500), std::strerror(errno));
  try {
    std::string text = read_all(fd, path);
    ::close(fd);
    return text;
  } catch (...) {
    ::close(fd);
    throw;
  }
}

std::string in_units(double value, const std::string& unit) {
  std::string prefix;
  for (const char* larger : {"k", "M", "G", "T"}) {
    if (value < 999.95) break;
    value /= 1000, prefix = larger;
  }
  const std::string suffix = prefix + unit;
  return fmt::format("{:.{}f}{}{}", value, prefix.empty() ? 0 : 1, suffix.empty() ? "" : " ", suffix);
}

bool output_is_terminal() { return ::isatty(STDOUT_FILENO); }
bool input_is_terminal() { return ::isatty(STDIN_FILENO); }
bool errors_are_terminal() { return ::isatty(STDERR_FILENO); }

}  // namespace headrace::cli
