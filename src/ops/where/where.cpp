#include "ops/where/where.h"

#include "ops/reference.h"

namespace headrace {
namespace {

std::vector<TensorType> infer(const OpCall& call) {
  const TensorType &condition = call.input(0), &x = call.input(1), &y = call.input(2);
  call.want(condition.dtype == DType::kBool, "the condition is wanted as bool");
  const DType dtype = promote(call, x, y);
  call.want(!is_block(dtype), "elements of block types are not chosen one by one: cast them to floats first");
  return {{dtype, broadcast_shapes(call, condition.shape, broadcast_shapes(call, x.shape, y.shape))}};
}

template <typename T>
std::vector<T> choose(std::span<const Tensor> in, const Sizes& sizes, const std::vector<T>& x, const std::vector<T>& y) {
  const std::vector<int64_t> condition = read_integers(in[0]);
  std::vector<T> z(size_t(sizes.numel()));
  for_each_broadcast(sizes, in, [&](int64_t i, std::span<const int64_t> at) { z[i] = condition[at[0]] ? x[at[1]] : y[at[2]]; });
  return z;
}

void reference(const OpCall&, std::span<const Tensor> in, std::span<const Tensor> out) {
  if (is_float(out[0].dtype)) write_floats(out[0], choose(in, out[0].sizes, read_floats(in[1]), read_floats(in[2])));
  else write_integers(out[0], choose(in, out[0].sizes, read_integers(in[1]), read_integers(in[2])));
}

}  // namespace

void register_where(OpRegistry& ops) {
  ops.add({.name = "where", .min_inputs = 3, .max_inputs = 3, .infer = infer, .reference = reference, .pointwise = true, .row_wise = true});
}

}  // namespace headrace
