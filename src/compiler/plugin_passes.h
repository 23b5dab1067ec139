// Plugins' passes in the pipeline.
#pragma once

#include "headrace/compile.h"
#include "headrace/plugins.h"

namespace headrace {

// `options` with the plugins' passes behind the caller's own; as they are when there are no plugins.
CompileOptions with_plugin_passes(CompileOptions options, const Plugins* plugins);

}  // namespace headrace
