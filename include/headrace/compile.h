// From a graph as its author wrote it to the program that will run: a list of passes, each graph to graph.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "headrace/graph.h"

namespace headrace {

struct CompileOptions;

// One pass: a rewriting of the whole graph that keeps its meaning, its inputs and its marked outputs.
struct Pass {
  std::string name;
  std::function<void(Graph& graph, const CompileOptions& options)> run;
};

// A pass of your own beside the named one. Several at one place run in the order in which they are listed.
struct ExtraPass {
  enum class Place { kBefore, kAfter } place = Place::kAfter;
  std::string anchor;  // one of pass_names(), or an extra pass listed earlier
  Pass pass;
};

struct CompileOptions {
  // Causal attention reads and writes a paged KV cache (state of the graph) instead of this run's keys and values only.
  bool kv_cache = false;
  // Inner values that the program shall return besides its outputs, under the names that they have in the graph as its author wrote it
  // (nn::named): names, or globs with * and ?. They survive all passes, as values marked in the graph do.
  std::vector<std::string> marks;
  std::vector<std::string> skip_passes;
  std::vector<ExtraPass> extra_passes;
  // Called after each pass.
  std::function<void(const std::string& pass, const Graph& graph, double milliseconds)> observer;
};

// Rewrites `graph` in place, verifying after each pass. Throws Error(kInvalidArgument) for an unknown pass name or a taken one;
// Error(kInternal) naming the pass that broke the graph.
void compile(Graph& graph, const CompileOptions& options = {});

std::vector<std::string> pass_names(const CompileOptions& options = {});  // in order, extra ones included

}  // namespace headrace
