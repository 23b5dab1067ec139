// Naming the file in errors of code that knows no paths.
#pragma once

#include "core/error.h"

namespace headrace {

// What body() returns. An Error that leaves it begins with `where`, also when the code inside knows no paths.
template <typename Body>
auto with_context(std::string_view where, Body&& body) {
  try {
    return body();
  } catch (const Error& e) {
    if (std::string_view(e.what()).starts_with(where)) throw;
    throw Error(e.code, fmt::format("{}: {}", where, e.what()));
  }
}

}  // namespace headrace
