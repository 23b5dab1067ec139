// How code inside Headrace reports errors: fail(code, format, ...) throws an Error with a formatted message.
#pragma once

#include <fmt/format.h>

#include "headrace/types.h"

namespace headrace {

template <typename... Args>
[[noreturn]] void fail(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(code, fmt::format(format, std::forward<Args>(args)...));
}

// For the commonest kind.
template <typename... Args>
[[noreturn]] void invalid(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(ErrorCode::kInvalidArgument, fmt::format(format, std::forward<Args>(args)...));
}

// `text` made fit for one line of an error message: control characters and invalid UTF-8 escaped, cut at `limit` bytes.
std::string printable(std::string_view text, size_t limit = 80);

}  // namespace headrace
