#pragma once

#include "jinja/runtime.h"

namespace headrace::jinja {

// Python's pprint.pformat: one line when it fits 80 columns, else an item per line; dicts sorted by key.
// Long strings stay whole.
std::string pretty_print(Runtime& runtime, const Value& value);

}  // namespace headrace::jinja
