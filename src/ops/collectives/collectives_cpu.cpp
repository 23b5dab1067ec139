// Collectives on a CPU: one thread of the team speaks with the other ranks, through the communicator of the request.
#include <cstring>

#include "device/cpu/cpu_device.h"
#include "ops/collectives/collectives.h"
#include "ops/reference.h"

namespace headrace {
namespace {

Tensor contiguous(const Tensor& t, HostTensor& copy) { return t.is_contiguous() ? t : copy = contiguous_copy(t); }

void exchange(Communicator& ranks, const AllReduce& all_reduce, const Tensor& x, const Tensor& out) {
  ranks.all_reduce(x, out, all_reduce.reduction);
}

// Ranks exchange whole tensors, one after the other: along an inner axis, a copy on this side puts the pieces where they belong.
void exchange(Communicator& ranks, const AllGather& all_gather, const Tensor& x, const Tensor& out) {
  const int axis = int(all_gather.axis < 0 ? all_gather.axis + x.rank() : all_gather.axis);
  const AxisSplit split(x.sizes, axis);
  if (split.outer == 1) return ranks.all_gather(x, out);
  const HostTensor gathered(x.dtype, {out.numel()});
  ranks.all_gather(x, gathered);
  const int64_t piece = storage_bytes(x.dtype, split.length * split.inner);
  for (int64_t rank = 0; rank < ranks.size(); ++rank)
    for (int64_t o = 0; o < split.outer; ++o)
      std::memcpy(out.as<std::byte>() + (o * ranks.size() + rank) * piece, gathered.as<std::byte>() + (rank * split.outer + o) * piece,
                  size_t(piece));
}

void exchange(Communicator& ranks, const ReduceScatter& reduce_scatter, const Tensor& x, const Tensor& out) {
  const int axis = int(reduce_scatter.axis < 0 ? reduce_scatter.axis + x.rank() : reduce_scatter.axis);
  const AxisSplit split(out.sizes, axis);
  if (split.outer == 1) return ranks.reduce_scatter(x, out, reduce_scatter.reduction);
  const HostTensor parts(x.dtype, {x.numel()});
  const int64_t piece = storage_bytes(x.dtype, split.length * split.inner);
  for (int64_t rank = 0; rank < ranks.size(); ++rank)
    for (int64_t o = 0; o < split.outer; ++o)
      std::memcpy(parts.as<std::byte>() + (rank * split.outer + o) * piece, x.as<std::byte>() + (o * ranks.size() + rank) * piece,
                  size_t(piece));
  ranks.reduce_scatter(parts, out, reduce_scatter.reduction);
}

void exchange(Communicator& ranks, const Send& send, const Tensor& x, const Tensor& out) {
  ranks.send(x, send.peer);
  std::memcpy(out.data, x.data, size_t(x.bytes()));
}

void exchange(Communicator& ranks, const Recv& recv, const Tensor&, const Tensor& out) { ranks.recv(out, recv.peer); }

template <typename T>
class CollectiveKernel : public CpuKernel {
 public:
  explicit CollectiveKernel(const KernelRequest& request)
      : name_(request.call.op.name), attributes_(request.call.as<T>()), ranks_(request.communicator) {
    if constexpr (requires(T t) { t.ranks; })
      if (attributes_.ranks != ranks_->size())
        invalid("{}: the program is one of {} ranks, the communicator has {}", name_, attributes_.ranks, ranks_->size());
    if constexpr (requires(T t) { t.peer; })
      if (attributes_.peer >= ranks_->size() || attributes_.peer == ranks_->rank())
        invalid("{}: rank {} of {} cannot reach rank {}", name_, ranks_->rank(), ranks_->size(), attributes_.peer);
  }

  void run(Team& team, const Launch& launch) const override {
    if (team.rank() != 0) return;
    HostTensor copy;
    exchange(*ranks_, attributes_, launch.inputs.empty() ? Tensor() : contiguous(launch.inputs[0], copy), launch.outputs[0]);
  }
  std::string description() const override { return fmt::format("{}/rank {} of {}", name_, ranks_->rank(), ranks_->size()); }

 private:
  std::string name_;
  T attributes_;
  std::shared_ptr<Communicator> ranks_;
};

}  // namespace

void register_collectives_cpu(KernelRegistry& kernels) {
  const auto add = [&]<typename T>(const char* op, T) {
    kernels.add({.op = op,
                 .name = "communicator/cpu",
                 .supports = [](const KernelRequest& request) { return request.communicator != nullptr; },
                 .make = make_as<CollectiveKernel<T>>});
  };
  add("all_reduce", AllReduce());
  add("all_gather", AllGather());
  add("reduce_scatter", ReduceScatter());
  add("send", Send());
  add("recv", Recv());
}

}  // namespace headrace
