#include "headrace/session.h"

#include "core/error.h"
#include "device/cpu/cpu_device.h"
#include "lowering/plan.h"
#include "lowering/weight_parameters.h"
#include "ops/ops.h"
#include "ops/reference.h"

namespace headrace {

struct Session::Impl {
  std::unique_ptr<Plan> plan;
  std::unique_ptr<Stream> stream;
};

Session::Session(Graph graph, std::shared_ptr<const WeightSource> weights, const SessionOptions& options)
    : impl_(std::make_unique<Impl>()) {
  WeightParameters parameters(graph, std::move(weights));  // of the graph as written: of what passes drop, a weight is no surplus
  if (options.compile) compile(graph, options.passes);
  else graph.verify();
  auto device = std::make_shared<CpuDevice>(CpuOptions{.num_threads = options.num_threads});
  const LoweringOptions lowering{.arithmetic = options.exact ? Arithmetic::kExact : Arithmetic::kFast};
  impl_->plan = std::make_unique<Plan>(std::move(graph), device, *builtin_kernels(), parameters, lowering);
  impl_->stream = device->make_stream();
}

Session::~Session() = default;
Session::Session(Session&&) noexcept = default;

std::map<std::string, HostTensor> Session::run(const std::map<std::string, Tensor>& inputs) {
  for (const auto& [name, tensor] : inputs)
    if (!tensor.is_contiguous()) invalid("input '{}': contiguous tensors are wanted", name);
  impl_->plan->run(*impl_->stream, inputs);
  std::map<std::string, HostTensor> results;
  // A CPU's memory is the host's, so that a result can be gathered whatever its strides.
  for (const Graph::Output& o : program().outputs()) results.emplace(o.name, contiguous_copy(impl_->plan->output(o.name)));
  return results;
}

const Graph& Session::program() const { return impl_->plan->program(); }

}  // namespace headrace
