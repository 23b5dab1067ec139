#include "ops/collectives/collectives.h"

#include <cstring>

#include "ops/reference.h"

namespace headrace {
namespace {

const TensorType& exchanged(const OpCall& call) {
  call.want(!is_block(call.input(0).dtype), "block types are not exchanged: cast them to floats first");
  return call.input(0);
}

// Of a call whose attributes T name ranks and an axis.
template <typename T>
int axis_of(const OpCall& call) {
  call.want(call.as<T>().ranks >= 1, "ranks are wanted as 1 or more");
  return normalize_axis(call, call.as<T>().axis, call.input(0).shape.rank());
}

std::vector<TensorType> infer_all_reduce(const OpCall& call) {
  call.want(call.as<AllReduce>().ranks >= 1, "ranks are wanted as 1 or more");
  return {exchanged(call)};
}

std::vector<TensorType> infer_all_gather(const OpCall& call) {
  TensorType y = exchanged(call);
  const int axis = axis_of<AllGather>(call);
  y.shape[axis] = y.shape[axis] * Dim(call.as<AllGather>().ranks);
  return {y};
}

std::vector<TensorType> infer_reduce_scatter(const OpCall& call) {
  TensorType y = exchanged(call);
  const int axis = axis_of<ReduceScatter>(call), ranks = call.as<ReduceScatter>().ranks;
  const std::optional<Dim> part = y.shape[axis].divided_by(ranks);
  if (!part) call.reject(fmt::format("axis {} of {} elements does not divide into {} ranks", axis, y.shape[axis].to_string(), ranks));
  y.shape[axis] = *part;
  return {y};
}

std::vector<TensorType> infer_send(const OpCall& call) {
  call.want(call.as<Send>().peer >= 0, "the peer is wanted as a rank, 0 or more");
  return {exchanged(call)};
}

std::vector<TensorType> infer_recv(const OpCall& call) {
  const Recv& recv = call.as<Recv>();
  call.want(recv.peer >= 0, "the peer is wanted as a rank, 0 or more");
  call.want(!is_block(recv.dtype), "block types are not exchanged");
  return {{recv.dtype, recv.shape}};
}

[[noreturn]] void fail_alone(const OpCall& call, const std::string& with) {
  fail(ErrorCode::kUnsupported,
       "{}: {}, but this run is of one rank alone: give SessionOptions::communicator this rank's end (local_communicators makes those of "
       "threads)",
       call.op.name, with);
}

// What one rank alone computes.
template <typename T>
void reference(const OpCall& call, std::span<const Tensor> in, std::span<const Tensor> out) {
  if constexpr (requires(T t) { t.peer; }) {
    fail_alone(call, fmt::format("it is with rank {}", call.as<T>().peer));
  } else {
    if (call.as<T>().ranks != 1) fail_alone(call, fmt::format("it is over {} ranks", call.as<T>().ranks));
    std::memcpy(out[0].data, in[0].data, size_t(in[0].bytes()));
  }
}

}  // namespace

void register_collectives(OpRegistry& ops) {
  const auto add = [&]<typename T>(const char* name, int inputs, auto infer, T) {
    ops.add({.name = name,
             .attributes = &attribute_type<T>(),
             .min_inputs = inputs,
             .max_inputs = inputs,
             .infer = infer,
             .reference = reference<T>,
             .writes_state = true});  // other ranks count on it: never removed, merged, or computed when a program is loaded
  };
  add("all_reduce", 1, infer_all_reduce, AllReduce());
  add("all_gather", 1, infer_all_gather, AllGather());
  add("reduce_scatter", 1, infer_reduce_scatter, ReduceScatter());
  add("send", 1, infer_send, Send());
  add("recv", 0, infer_recv, Recv());
}

}  // namespace headrace
