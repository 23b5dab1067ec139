#pragma once

#include "jinja/objects.h"

namespace headrace::jinja {

// The functions that every template sees: range, dict, namespace, cycler, joiner, raise_exception, strftime_now.
// nullptr when there is none of that name.
const NativeEntry* find_global(std::string_view name);

}  // namespace headrace::jinja
