// The list of passes, and the one door through which each goes.
#include <algorithm>
#include <chrono>

#include "compiler/passes/passes.h"
#include "core/error.h"
#include "headrace/compile.h"

namespace headrace {
namespace {

struct Pass {
  const char* name;
  void (*run)(Graph&, const CompileOptions&);
};

constexpr Pass kPipeline[] = {
    {"canonicalize", canonicalize},            // one spelling for each idea, equal nodes once, constant expressions first
    {"fuse-gated-mlp", fuse_gated_mlp},        // act(x Wg) * (x Wu)
    {"merge-linears", merge_linears},          // q, k, v: parallel linears of one input
    {"fuse-linear", fuse_linear},              // what stands before and after a linear: norm, bias, activation, residual
    {"use-kv-cache", use_kv_cache},            // causal attention over a paged cache
    {"fuse-qkv-post", fuse_qkv_post},          // head norms, rope and the cache write
    {"fuse-add-norm", fuse_add_norm},          // residual sums whose norm no linear took in
    {"select-rows-early", select_rows_early},  // the last layer's, of which only some are wanted
    {"remove-dead", remove_dead},
};

}  // namespace

void compile(Graph& graph, const CompileOptions& options) {
  for (const std::string& name : options.skip_passes)
    if (std::none_of(std::begin(kPipeline), std::end(kPipeline), [&](const Pass& p) { return p.name == name; }))
      invalid("there is no pass '{}'; the passes are {}", name, fmt::join(pass_names(), ", "));
  for (const Pass& pass : kPipeline) {
    if (std::find(options.skip_passes.begin(), options.skip_passes.end(), pass.name) != options.skip_passes.end()) continue;
    const auto start = std::chrono::steady_clock::now();
    try {
      pass.run(graph, options);
      graph.verify();
    } catch (const Error& e) {
      fail(e.code, "pass '{}': {}", pass.name, e.what());
    }
    if (options.observer)
      options.observer(pass.name, graph, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
}

std::vector<std::string> pass_names() {
  std::vector<std::string> names;
  for (const Pass& pass : kPipeline) names.push_back(pass.name);
  return names;
}

}  // namespace headrace
