#pragma once

#include <string>
#include <string_view>

namespace headrace::jinja {

// Writes what stands between a literal's quotes, escapes resolved as Python does, to `out`. Returns the problem, or nullptr.
const char* unescape(std::string_view body, std::string& out);

}  // namespace headrace::jinja
