// Plugins, loaded: ops, kernels, passes, model families, weight formats and logits processors from shared libraries (headrace/plugin.h is
// what those are written against).
//
//   auto plugins = Plugins::load({"libsmooth_quant.so"});
//   LLM llm("Llama-3.1-8B", {.plugins = plugins});
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "headrace/graph.h"

namespace headrace {

// What one plugin contributes, by name.
struct PluginInfo {
  std::string name, version, path;
  std::vector<std::string> ops, kernels, passes, model_families, weight_formats, logits_processors;
};

struct PluginParts;

// Never changes once loaded. A library stays in memory as long as anything of it is alive: an op of a graph, a kernel of a plan.
class Plugins {
 public:
  // In this order; a plugin may use what those before it have. Throws Error, with the path, for a file that is no shared library or no
  // plugin, for another ABI version, for a plugin that fails or registers what cannot be, and for names that are taken.
  static std::shared_ptr<const Plugins> load(const std::vector<std::string>& paths);
  ~Plugins();

  const std::vector<PluginInfo>& list() const { return list_; }
  // The built-in ops and the plugins'.
  const std::shared_ptr<const OpRegistry>& ops() const;
  const PluginParts& parts() const { return *parts_; }  // for Headrace's own rooms

 private:
  Plugins();
  std::vector<PluginInfo> list_;
  std::unique_ptr<PluginParts> parts_;
};

}  // namespace headrace
