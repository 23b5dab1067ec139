// Numbers from text, as Python's int() and float() read them.
#pragma once

#include "jinja/runtime.h"

namespace headrace::jinja {

// Nothing when the text is no integer of that base (2 to 36, or 0: by prefix), or does not fit 64 bits.
std::optional<int64_t> parse_integer(std::string_view text, int64_t base);
std::optional<double> parse_float(std::string_view text);

}  // namespace headrace::jinja
