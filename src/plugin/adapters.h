// From what a plugin registers to what Headrace's rooms take. Each keeps the part alive for as long as the result is.
#pragma once

#include "plugin/parts.h"
#include "plugin/plugin_part.h"

namespace headrace {

OpDef adapt(std::shared_ptr<const PluginPart<headrace_op>> part);                              // plugin_op.cpp
KernelDef adapt(std::shared_ptr<const PluginPart<headrace_kernel>> part);                      // plugin_kernel.cpp
PluginPass adapt(std::shared_ptr<const PluginPart<headrace_pass>> part);                       // plugin_model.cpp
PluginFamily adapt(std::shared_ptr<const PluginPart<headrace_family>> part);                   // plugin_model.cpp
CheckpointFormat adapt(std::shared_ptr<const PluginPart<headrace_format>> part);               // plugin_format.cpp
MakeLogitsProcessor adapt(std::shared_ptr<const PluginPart<headrace_logits_processor>> part);  // plugin_logits.cpp

}  // namespace headrace
