// How values look: Python's str() and repr(), and its spelling of floats.
#pragma once

#include "jinja/runtime.h"

namespace headrace::jinja {

// The value as {{ }} prints it.
std::string to_text(Runtime& runtime, const Value& value);
void append_text(Runtime& runtime, Text& out, const Value& value);
std::string repr(Runtime& runtime, const Value& value);
void append_repr(Runtime& runtime, Text& out, const Value& value);
std::string repr(std::string_view text);
// The shortest digits that give the same number, as Python prints them: 1.0, 1e-05, 1e+16, inf.
std::string repr(double number);
// Python's name of the value's type.
std::string_view type_name(const Value& value);
std::string escape_html(std::string_view text);

}  // namespace headrace::jinja
