#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::jinja {

class Runtime;

struct WrapOptions {
  int64_t width = 79;  // characters, at least 1
  bool breaks_long_words = true;
  bool breaks_on_hyphens = true;
};

// The lines of one paragraph, as Python's textwrap.wrap cuts them (tabs and other white space kept as they are).
std::vector<std::string> wrap_words(Runtime& runtime, std::string_view paragraph, const WrapOptions& options);

}  // namespace headrace::jinja
