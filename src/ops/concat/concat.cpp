#include "ops/concat/concat.h"

#include <cstring>
#include <limits>

#include "ops/reference.h"

namespace headrace {
namespace {

std::vector<TensorType> infer(const OpCall& call) {
  TensorType y = call.input(0);
  const int axis = normalize_axis(call, call.as<Concat>().axis, y.shape.rank());
  call.want(!is_block(y.dtype) || axis < y.shape.rank() - 1, "block types are not joined along their last axis: cast them to floats first");
  for (int i = 1; i < call.num_inputs(); ++i) {
    TensorType x = call.input(i);
    call.want(x.dtype == y.dtype && x.shape.rank() == y.shape.rank(), "operands are wanted with one element type and equally many axes");
    const Dim sum = y.shape[axis] + x.shape[axis];
    y.shape[axis] = x.shape[axis] = sum;
    call.want(x == y, fmt::format("operand {} differs from the others in another axis than {}", i, axis));
  }
  return {y};
}

void reference(const OpCall& call, std::span<const Tensor> in, std::span<const Tensor> out) {
  const int axis = normalize_axis(call, call.as<Concat>().axis, out[0].rank());
  const int64_t outer = AxisSplit(out[0].sizes, axis).outer;
  std::byte* to = out[0].as<std::byte>();
  for (int64_t o = 0; o < outer; ++o)
    for (const Tensor& x : in) {
      const int64_t bytes = x.bytes() / outer;
      std::memcpy(to, x.as<std::byte>() + o * bytes, size_t(bytes));
      to += bytes;
    }
}

}  // namespace

void register_concat(OpRegistry& ops) {
  ops.add({.name = "concat",
           .attributes = &attribute_type<Concat>(),
           .min_inputs = 1,
           .max_inputs = std::numeric_limits<int>::max(),
           .infer = infer,
           .reference = reference});
}

}  // namespace headrace
