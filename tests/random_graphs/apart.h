// A check in a process of its own, so that a crash or an endless loop is a failure like others.
#pragma once

#include "random_graphs/check.h"

namespace headrace::fuzzing {

// As check; a signal or more than `seconds` is a failure too. The calling process must have no threads.
Findings check_apart(const Case& graph, const std::vector<Variant>& variants, int seconds = 20);

}  // namespace headrace::fuzzing
