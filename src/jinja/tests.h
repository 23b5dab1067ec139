#pragma once

#include "jinja/objects.h"

namespace headrace::jinja {

// The function of {{ value is NAME }}; nullptr when there is none of that name.
NativeFunction find_test(std::string_view name);

}  // namespace headrace::jinja
