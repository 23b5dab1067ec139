#pragma once

#include <ctime>
#include <string>
#include <string_view>

namespace headrace::jinja {

// Python's datetime.strftime for a time without a zone, with English names, whatever the process's locale is.
// Throws Error for a directive that it does not know.
std::string format_time(const std::tm& time, std::string_view format);

// "YYYY-MM-DD", or with " HH:MM" or " HH:MM:SS" ('T' may stand for the space). Throws Error for anything else.
std::tm parse_time(std::string_view text);

}  // namespace headrace::jinja
