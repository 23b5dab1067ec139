#pragma once

#include <span>

#include "jinja/objects.h"

namespace headrace::jinja {

// The methods of str that search and split.
std::span<const NativeEntry> search_methods();

}  // namespace headrace::jinja
