#include "core/log.h"

#include <cstdio>
#include <cstdlib>
#include <string>

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
  const std::string line = fmt::format("headrace: {}: {}\n", kNames[int(level)], message);
  std::fwrite(line.data(), 1, line.size(), stderr);  // one call: lines of several threads do not mix
}

}  // namespace headrace
