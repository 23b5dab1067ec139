// The verbs, each in the file of its name.
#pragma once

#include "cli/options.h"

namespace headrace::cli {

void declare_run(Options& options);

}  // namespace headrace::cli
