// The list of passes, and the one door through which each goes.
#include <algorithm>
#include <chrono>
#include <map>

#include "compiler/passes/passes.h"
#include "core/error.h"
#include "headrace/compile.h"

namespace headrace {
namespace {

struct NamedPass {
  const char* name;
  void (*run)(Graph&, const CompileOptions&);
};

constexpr NamedPass kPipeline[] = {
    {"mark", mark_values},                     // the inner values that the options name
    {"canonicalize", canonicalize},            // one spelling for each idea, equal nodes once, constant expressions first
    {"recognize", recognize},                  // norms, activations, softmax, rope in the plain ops that spell them
    {"move-dequantize", move_dequantize},      // behind what only arranges integers
    {"fuse-gated-mlp", fuse_gated_mlp},        // act(x Wg) * (x Wu)
    {"merge-linears", merge_linears},          // q, k, v: parallel linears of one input
    {"fuse-linear", fuse_linear},              // what stands before and after a linear: norm, bias, activation, residual
    {"use-kv-cache", use_kv_cache},            // causal attention over a paged cache
    {"fuse-qkv-post", fuse_qkv_post},          // head norms, rope and the cache write
    {"fuse-add-norm", fuse_add_norm},          // residual sums whose norm no linear took in
    {"select-rows-early", select_rows_early},  // the last layer's, of which only some are wanted
    {"form-regions", form_regions},            // what no kernel covers: pointwise ops and reductions as one
    {"remove-dead", remove_dead},
};

std::vector<std::string> names_of(const std::vector<Pass>& passes) {
  std::vector<std::string> names;
  for (const Pass& pass : passes) names.push_back(pass.name);
  return names;
}

// The list above with the caller's passes in their places.
std::vector<Pass> passes_of(const CompileOptions& options) {
  std::vector<Pass> passes;
  for (const NamedPass& pass : kPipeline) passes.push_back({pass.name, pass.run});
  const auto find = [&](const std::string& name) {
    return std::find_if(passes.begin(), passes.end(), [&](const Pass& p) { return p.name == name; });
  };
  std::map<std::string, std::string> last_after;  // by anchor, so that a second pass stands behind the first
  for (const ExtraPass& extra : options.extra_passes) {
    if (!extra.pass.run) invalid("pass '{}' has nothing to run", extra.pass.name);
    if (find(extra.pass.name) != passes.end()) invalid("there are two passes '{}'; give one another name", extra.pass.name);
    if (find(extra.anchor) == passes.end())
      invalid("pass '{}' is wanted beside '{}', which there is not; the passes are {}", extra.pass.name, extra.anchor,
              fmt::join(names_of(passes), ", "));
    if (extra.place == ExtraPass::Place::kBefore) {
      passes.insert(find(extra.anchor), extra.pass);
    } else {
      std::string& last = last_after.try_emplace(extra.anchor, extra.anchor).first->second;
      passes.insert(find(last) + 1, extra.pass);
      last = extra.pass.name;
    }
  }
  return passes;
}

}  // namespace

void compile(Graph& graph, const CompileOptions& options) {
  const std::vector<Pass> passes = passes_of(options);
  for (const std::string& name : options.skip_passes)
    if (std::none_of(passes.begin(), passes.end(), [&](const Pass& p) { return p.name == name; }))
      invalid("there is no pass '{}'; the passes are {}", name, fmt::join(names_of(passes), ", "));
  graph.verify();  // passes rely on it, and set_type leaves types to be inferred anew
  for (const Pass& pass : passes) {
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

std::vector<std::string> pass_names(const CompileOptions& options) { return names_of(passes_of(options)); }

}  // namespace headrace
