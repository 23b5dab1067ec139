// Session: any graph, compiled and run on named tensors. For language models with a cache and many requests see executor.h, llm.h.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "headrace/compile.h"
#include "headrace/graph.h"

namespace headrace {

class Communicator;
class Debugger;
class Plugins;
class WeightSource;

struct SessionOptions {
  int num_threads = 0;  // 0: one per core
  bool exact = false;   // products in fp32 with weights widened exactly, instead of the speed that stored types permit
  bool compile = true;  // run the passes first; false: the graph as it stands
  CompileOptions passes;
  std::shared_ptr<const Plugins> plugins;  // headrace/plugins.h: kernels and passes; ops come with the graph
  // This rank's end when several run parts of one model, each in its Session (communicator.h); null: this rank is alone. When a run fails
  // here, the other ranks' runs fail, too, instead of waiting.
  std::shared_ptr<Communicator> communicator = nullptr;
  std::shared_ptr<Debugger> debugger;  // looks into runs (headrace/debug.h); may be null
};

class Session {
 public:
  // `weights` gives the graph's parameters by name; null when it has none. Throws Error listing everything missing, extra,
  // misshapen or of another type.
  Session(Graph graph, std::shared_ptr<const WeightSource> weights, const SessionOptions& options = {});
  ~Session();
  Session(Session&&) noexcept;

  // Runs on tensors in host memory, by input name. Symbolic sizes follow from them and may differ from run to run.
  // Throws Error(kInvalidArgument) for missing inputs, wrong types or sizes that do not fit together.
  std::map<std::string, HostTensor> run(const std::map<std::string, Tensor>& inputs);

  // Other weights for the same program. Throws Error as the constructor; the old ones then stay.
  void refit(std::shared_ptr<const WeightSource> weights);

  const Graph& program() const;  // after the passes

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace headrace
