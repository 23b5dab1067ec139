#include "compiler/plugin_passes.h"

#include "plugin/parts.h"

namespace headrace {

CompileOptions with_plugin_passes(CompileOptions options, const Plugins* plugins) {
  if (!plugins) return options;
  for (const PluginPass& pass : plugins->parts().passes)
    options.extra_passes.push_back({.place = pass.before ? ExtraPass::Place::kBefore : ExtraPass::Place::kAfter,
                                    .anchor = pass.anchor,
                                    .pass = {pass.name, [run = pass.run](Graph& graph, const CompileOptions&) { run(graph); }}});
  return options;
}

}  // namespace headrace
