// Lines to standard error, for people. Level: HEADRACE_LOG = error | warning (default) | info | debug.
#pragma once

#include <fmt/format.h>

#include <string_view>

namespace headrace {

enum class LogLevel { kError, kWarning, kInfo, kDebug };

bool log_enabled(LogLevel level);
void log_line(LogLevel level, std::string_view message);

template <typename... Args>
void log(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  if (log_enabled(level)) log_line(level, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace headrace
