#include "core/log.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "core/error.h"

namespace headrace {
namespace {

constexpr std::string_view kNames[] = {"error", "warning", "info", "debug"};

LogLevel level_from_environment() {
  const char* value = std::getenv("HEADRACE_LOG");
  for (int i = 0; value && i < 4; ++i)
    if (kNames[i] == value) return LogLevel(i);
  return LogLevel::kWarning;
}

}  // namespace

bool log_enabled(LogLevel level) {
  static const LogLevel enabled = level_from_environment();
  return level <= enabled;
}

void log_line(LogLevel level, std::string_view message) {
  std::string line = fmt::format("headrace: {}:", kNames[int(level)]);
  for (size_t begin = 0; begin <= message.size();) {  // what a file says must not steer the terminal
    const size_t end = std::min(message.find('\n', begin), message.size());
    line += (begin == 0 ? " " : "\n") + printable(message.substr(begin, end - begin), std::string_view::npos);
    begin = end + 1;
  }
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);  // one call: lines of several threads do not mix
}

}  // namespace headrace
