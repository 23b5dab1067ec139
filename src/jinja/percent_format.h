#pragma once

#include "jinja/runtime.h"

namespace headrace::jinja {

// Python's `string % arguments`: a tuple gives the values in order, a dict by name, anything else is the only value.
std::string percent_format(Runtime& runtime, const Value& string, const Value& arguments);

}  // namespace headrace::jinja
