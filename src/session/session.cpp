#include "core/error.h"
#include "device/cpu/cpu_device.h"
#include "lowering/weight_parameters.h"
#include "headrace/engine.h"
#include "lowering/plan.h"
#include "ops/ops.h"

namespace headrace {

struct Session::Impl {
  std::unique_ptr<Plan> plan;
  std::unique_ptr<Stream> stream;
};

Session::Session(Graph graph, std::shared_ptr<const WeightSource> weights, const SessionOptions& options) : impl_(std::make_unique<Impl>()) {
  if (options.compile) compile(graph, options.passes);
  WeightParameters parameters(graph, std::move(weights));
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
  for (const Graph::Output& o : program().outputs()) {
    const Tensor t = impl_->plan->output(o.name);
    HostTensor copy(t.dtype, t.sizes);
    const int64_t row = t.rank() ? t.sizes[-1] : 1;
    if (t.is_contiguous()) impl_->stream->copy_to_host(copy.view().data, t.data, size_t(t.bytes()));
    else if (t.rank() == 2 && t.strides[1] == 1)
      for (int64_t r = 0; r < t.sizes[0]; ++r)
        impl_->stream->copy_to_host(copy.as<std::byte>() + storage_bytes(t.dtype, r * row), t.as<std::byte>() + storage_bytes(t.dtype, r * t.strides[0]),
                                    size_t(storage_bytes(t.dtype, row)));
    else fail(ErrorCode::kUnsupported, "output '{}' is a view that cannot be copied out", o.name);
    results.emplace(o.name, std::move(copy));
  }
  return results;
}

const Graph& Session::program() const { return impl_->plan->program(); }

}  // namespace headrace
