#pragma once

#include "jinja/runtime.h"

namespace headrace::jinja {

// Python's str.format: {}, {0}, {name}, {a.b[c]}, {!r}, {:spec}. Arguments are escaped when the string is a Markup.
std::string str_format(Runtime& runtime, const Value& string, const CallArguments& arguments);

}  // namespace headrace::jinja
