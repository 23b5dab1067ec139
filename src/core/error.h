// How code inside Headrace reports errors: fail(code, format, ...) throws an Error with a formatted message.
#pragma once

#include <fmt/format.h>

#include <source_location>

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

// " (at my_model.cpp:42)", the end of a message about a line of the author's code; the file without its folders. Empty when nobody said.
std::string at_place(const std::source_location& where);

}  // namespace headrace
