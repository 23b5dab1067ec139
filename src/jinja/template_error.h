#pragma once

#include <string>
#include <string_view>

#include "headrace/types.h"

namespace headrace::jinja {

// A template that cannot be parsed or rendered, or that refuses its input by raise_exception.
// what() is "NAME, line LINE: MESSAGE".
struct TemplateError : Error {
  TemplateError(ErrorCode code, std::string_view name, int line, const std::string& message)
      : Error(code, std::string(name) + ", line " + std::to_string(line) + ": " + message), line(line), message(message) {}
  int line;             // from 1
  std::string message;  // of raise_exception: the template's own words
};

}  // namespace headrace::jinja
