#include "headrace/session.h"

#include "compiler/plugin_passes.h"
#include "core/error.h"
#include "device/cpu/cpu_device.h"
#include "headrace/communicator.h"
#include "headrace/debug.h"
#include "lowering/plan.h"
#include "lowering/weight_parameters.h"
#include "ops/reference.h"
#include "plugin/parts.h"

namespace headrace {

namespace {

Graph parameters_of(const Graph& graph) {
  Graph declared(graph.shared_ops());
  for (const Value& p : graph.leaves(Leaf::kParameter)) declared.parameter(p.name(), p.type());
  return declared;
}

// When `body` fails, the other ranks must not wait for this one.
template <typename Body>
auto or_abort(Communicator* ranks, Body body) {
  try {
    return body();
  } catch (const std::exception& e) {
    if (ranks) ranks->abort(e.what());
    throw;
  }
}

}  // namespace

struct Session::Impl {
  // A device object of its own for each set of weights, so that all of it goes when other weights come.
  struct Lowered {
    std::unique_ptr<Plan> plan;
    std::unique_ptr<Stream> stream;
  };
  Lowered lower(std::shared_ptr<const WeightSource> weights) const {
    WeightParameters parameters(declared, std::move(weights));
    auto device = std::make_shared<CpuDevice>(CpuOptions{.num_threads = options.num_threads});
    const LoweringOptions lowering{.arithmetic = options.exact ? Arithmetic::kExact : Arithmetic::kFast,
                                   .communicator = options.communicator};
    return {std::make_unique<Plan>(program.clone(), device, kernels_of(options.plugins.get()), parameters, lowering),
            device->make_stream()};
  }

  Graph declared;  // the parameters of the graph as written: of what passes drop, a weight is no surplus
  Graph program;
  SessionOptions options;
  Lowered lowered = {};
};

Session::Session(Graph graph, std::shared_ptr<const WeightSource> weights, const SessionOptions& options) {
  or_abort(options.communicator.get(), [&] {
    Graph declared = parameters_of(graph);
    if (options.compile) compile(graph, with_plugin_passes(options.passes, options.plugins.get()));
    else graph.verify();
    impl_ = std::make_unique<Impl>(std::move(declared), std::move(graph), options);
    refit(std::move(weights));
  });
}

void Session::refit(std::shared_ptr<const WeightSource> weights) {
  Impl::Lowered other = impl_->lower(weights);
  std::swap(impl_->lowered, other);
  if (const auto& debugger = impl_->options.debugger) debugger->watch(*impl_->lowered.plan, std::move(weights), impl_->options.exact);
}

Session::~Session() = default;
Session::Session(Session&&) noexcept = default;

std::map<std::string, HostTensor> Session::run(const std::map<std::string, Tensor>& inputs) {
  return or_abort(impl_->options.communicator.get(), [&] {
    for (const auto& [name, tensor] : inputs)
      if (!tensor.is_contiguous()) invalid("input '{}': contiguous tensors are wanted", name);
    impl_->lowered.plan->run(*impl_->lowered.stream, inputs);
    std::map<std::string, HostTensor> results;
    // A CPU's memory is the host's, so that a result can be gathered whatever its strides.
    for (const Graph::Output& o : program().outputs()) results.emplace(o.name, contiguous_copy(impl_->lowered.plan->output(o.name)));
    return results;
  });
}

const Graph& Session::program() const { return impl_->program; }

}  // namespace headrace
