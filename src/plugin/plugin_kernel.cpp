#include "device/cpu/cpu_device.h"
#include "ops/strided_loop.h"
#include "plugin/adapters.h"
#include "plugin/handles.h"
#include "plugin/plugin_attributes.h"

namespace headrace {
namespace {

using Part = std::shared_ptr<const PluginPart<headrace_kernel>>;

// What the callbacks of one kernel share.
struct PluginKernel {
  Part part;
  std::string name;  // "smooth_quant_gemm/tiles cpu"

  const headrace_kernel& c() const { return part->c; }
  template <typename Body>
  void call(const char* callback, CallContext& context, Body&& body) const {
    call_plugin(*part->library, fmt::format("{} of kernel '{}'", callback, name), context, body);
  }
};

// A request, in the plugin's terms. Valid as long as the original.
struct RequestForPlugin {
  std::vector<headrace_type> inputs, outputs;
  std::vector<headrace_tensor> constants;
  headrace_kernel_request c;

  explicit RequestForPlugin(const KernelRequest& request) : inputs(to_c(request.call.inputs)), outputs(to_c(request.outputs)) {
    for (const Constant& constant : request.constants) constants.push_back(to_c(constant.tensor));
    c = {.struct_size = sizeof(headrace_kernel_request),
         .call = {.struct_size = sizeof(headrace_call),
                  .op = request.call.op.name.c_str(),
                  .attributes = to_c(&request.call.attributes),
                  .inputs = inputs.data(),
                  .num_inputs = uint32_t(inputs.size()),
                  .outputs = outputs.data(),
                  .num_outputs = uint32_t(outputs.size())},
         .constants = constants.data(),
         .exact = request.arithmetic == Arithmetic::kExact,
         .device_number = 0};
  }
};

// What make gave for one node.
class KernelState {
 public:
  KernelState(std::shared_ptr<const PluginKernel> kernel, const KernelRequest& request) : kernel_(std::move(kernel)) {
    if (!kernel_->c().make) return;
    const RequestForPlugin wanted(request);
    CallContext context;
    kernel_->call("make", context, [&](headrace_context* c) { return kernel_->c().make(c, kernel_->c().user, &wanted.c, &state_); });
    made_ = true;
  }
  ~KernelState() {
    if (!made_) return;
    try {
      kernel_->c().destroy(kernel_->c().user, state_);
    } catch (...) {  // none may leave it
    }
  }
  KernelState(const KernelState&) = delete;
  KernelState& operator=(const KernelState&) = delete;

  const PluginKernel& kernel() const { return *kernel_; }

  size_t workspace_bytes(std::span<const Tensor> inputs, std::span<const Tensor> outputs, int num_threads) const {
    if (!kernel_->c().workspace_bytes) return 0;
    size_t bytes = 0;
    CallContext context;
    call("workspace_bytes", context, inputs, outputs, {.num_threads = num_threads},
         [&](headrace_context* c, const headrace_launch& launch) {
           return kernel_->c().workspace_bytes(c, kernel_->c().user, state_, &launch, &bytes);
         });
    if (bytes > size_t(1) << 40) invalid("kernel '{}' wants {} bytes of workspace", kernel_->name, bytes);
    return bytes;
  }

  // Where and as which of the threads it runs.
  struct Place {
    void* workspace = nullptr;
    int thread = 0, num_threads = 1;
    void* stream = nullptr;
  };
  void run(CallContext& context, std::span<const Tensor> inputs, std::span<const Tensor> outputs, const Place& place) const {
    call("run", context, inputs, outputs, place,
         [&](headrace_context* c, const headrace_launch& launch) { return kernel_->c().run(c, kernel_->c().user, state_, &launch); });
  }

 private:
  template <typename Body>
  void call(const char* callback, CallContext& context, std::span<const Tensor> inputs, std::span<const Tensor> outputs, const Place& place,
            Body&& body) const {
    const std::vector<headrace_tensor> in = to_c(inputs), out = to_c(outputs);
    const headrace_launch launch{.struct_size = sizeof(headrace_launch),
                                 .inputs = in.data(),
                                 .num_inputs = uint32_t(in.size()),
                                 .outputs = out.data(),
                                 .num_outputs = uint32_t(out.size()),
                                 .workspace = place.workspace,
                                 .thread = place.thread,
                                 .num_threads = place.num_threads,
                                 .stream = place.stream};
    kernel_->call(callback, context, [&](headrace_context* c) { return body(c, launch); });
  }

  std::shared_ptr<const PluginKernel> kernel_;
  void* state_ = nullptr;
  bool made_ = false;
};

// On the team of threads. Operands that are not contiguous are copied into the front of the workspace, unless the kernel takes any.
class PluginCpuKernel : public CpuKernel {
 public:
  PluginCpuKernel(std::shared_ptr<const PluginKernel> kernel, const KernelRequest& request)
      : state_(std::move(kernel), request), num_threads_(static_cast<CpuDevice&>(request.device).pool().size()) {
    for (const Constant& constant : request.constants)
      if (constant.tensor.data && keeps_constants()) held_bytes_ += constant.tensor.bytes();
  }

  size_t workspace_bytes(std::span<const Tensor> inputs, std::span<const Tensor> outputs) const override {
    std::vector<Tensor> contiguous(inputs.begin(), inputs.end());
    size_t copied = 0;
    for (Tensor& t : contiguous) {
      copied += copied_bytes(t);
      t = Tensor::contiguous(nullptr, t.dtype, t.sizes);
    }
    return copied + state_.workspace_bytes(takes_any_strides() ? inputs : contiguous, outputs, num_threads_);
  }

  void run(Team& team, const Launch& launch) const override {
    std::byte* workspace = launch.workspace;
    std::vector<Tensor> inputs = launch.inputs;
    for (Tensor& t : inputs) {
      const size_t bytes = copied_bytes(t);
      if (bytes == 0) continue;
      const Tensor copy = Tensor::contiguous(static_cast<void*>(workspace), t.dtype, t.sizes);
      copy_strided(team, t, copy);
      t = copy, workspace += bytes;
    }
    if (workspace != launch.workspace) team.barrier();
    CallContext context;
    context.team = &team;
    state_.run(context, inputs, launch.outputs, {.workspace = workspace, .thread = team.rank(), .num_threads = team.size()});
  }

  bool reads_constants() const override { return !keeps_constants(); }
  int64_t held_bytes() const override { return held_bytes_; }
  std::string description() const override { return state_.kernel().name; }

 private:
  bool takes_any_strides() const { return state_.kernel().c().flags & HEADRACE_KERNEL_ANY_STRIDES; }
  bool keeps_constants() const { return state_.kernel().c().flags & HEADRACE_KERNEL_KEEPS_CONSTANTS; }
  size_t copied_bytes(const Tensor& t) const {
    constexpr size_t kAlignment = 64;
    if (takes_any_strides() || t.is_contiguous()) return 0;
    return (size_t(storage_bytes(t.dtype, t.numel())) + kAlignment - 1) / kAlignment * kAlignment;
  }

  KernelState state_;
  int num_threads_;
  int64_t held_bytes_ = 0;
};

bool supports(const PluginKernel& kernel, const KernelRequest& request) {
  if (!kernel.c().supports) return true;
  const RequestForPlugin wanted(request);
  int32_t answer = 0;
  CallContext context;
  kernel.call("supports", context, [&](headrace_context* c) { return kernel.c().supports(c, kernel.c().user, &wanted.c, &answer); });
  return answer != 0;
}

}  // namespace

KernelDef adapt(std::shared_ptr<const PluginPart<headrace_kernel>> part) {
  const headrace_kernel& c = part->c;
  check_plugin_name(c.op, "an op");
  check_plugin_name(c.name, "a kernel");
  if (c.device != HEADRACE_CPU && c.device != HEADRACE_CUDA) invalid("kernel '{}': {} is no device", c.name, c.device);
  if (!c.run || !c.make != !c.destroy) invalid("kernel '{}': run is wanted, and make and destroy together", c.name);
  const DeviceKind device = c.device == HEADRACE_CPU ? DeviceKind::kCpu : DeviceKind::kCuda;
  const auto kernel = std::make_shared<const PluginKernel>(PluginKernel{part, fmt::format("{}/{} {}", c.op, c.name, name(device))});
  return {.op = c.op,
          .name = kernel->name,
          .device = device,
          .supports = [kernel](const KernelRequest& request) { return supports(*kernel, request); },
          // CUDA kernels are registered, listed and kept in order; what runs them is a CUDA device, which this build has not.
          .make = [kernel](const KernelRequest& request) -> std::unique_ptr<Kernel> {
            return std::make_unique<PluginCpuKernel>(kernel, request);
          }};
}

}  // namespace headrace
