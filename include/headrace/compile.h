// From a graph as its author wrote it to the program that will run: a list of passes, each graph to graph.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "headrace/graph.h"

namespace headrace {

struct CompileOptions {
  // Causal attention reads and writes a paged KV cache (state of the graph) instead of this run's keys and values only.
  bool kv_cache = false;
  std::vector<std::string> skip_passes;
  // Called after each pass.
  std::function<void(const std::string& pass, const Graph& graph, double milliseconds)> observer;
};

// Rewrites `graph` in place, verifying after each pass. Throws Error(kInvalidArgument) for an unknown pass name, Error(kInternal)
// naming the pass that broke the graph.
void compile(Graph& graph, const CompileOptions& options = {});

std::vector<std::string> pass_names();  // in order

}  // namespace headrace
