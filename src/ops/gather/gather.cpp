#include "ops/gather/gather.h"

#include <algorithm>
#include <cstring>

#include "ops/reference.h"

namespace headrace {
namespace {

std::vector<TensorType> infer(const OpCall& call) {
  const TensorType &x = call.input(0), &index = call.input(1);
  const int axis = normalize_axis(call, call.as<Gather>().axis, x.shape.rank());
  call.want(!is_block(x.dtype), "elements of block types are not chosen one by one: cast them to floats first");
  call.want(index.dtype == DType::kI32 || index.dtype == DType::kI64, "the index is wanted as i32 or i64");
  call.want(index.shape.rank() == x.shape.rank(), "the index is wanted with as many axes as x");
  for (int i = 0; i < x.shape.rank(); ++i) {
    const Dim &size = x.shape[i], &wanted = index.shape[i];
    if (i == axis || size == wanted) continue;
    if (!size.is_constant() || !wanted.is_constant() || wanted.value() > size.value())
      call.reject(fmt::format("the index has {} elements along axis {}, x has {}: equal or less is wanted", wanted.to_string(), i,
                              size.to_string()));
  }
  return {{x.dtype, index.shape}};
}

void reference(const OpCall& call, std::span<const Tensor> in, std::span<const Tensor> out) {
  const int axis = normalize_axis(call, call.as<Gather>().axis, in[0].rank());
  const Tensor &x = in[0], &y = out[0];
  const std::vector<int64_t> indices = read_integers(in[1]);
  if (x.numel() == 0) return std::memset(y.data, 0, size_t(y.bytes())), void();
  const int64_t bytes = info(x.dtype).block_bytes;
  for (int64_t i = 0; i < y.numel(); ++i) {
    int64_t rest = i, offset = 0;
    for (int a = y.rank() - 1; a >= 0; --a) {
      offset += (a == axis ? std::clamp<int64_t>(indices[size_t(i)], 0, x.sizes[a] - 1) : rest % y.sizes[a]) * x.strides[a];
      rest /= y.sizes[a];
    }
    std::memcpy(y.as<std::byte>() + i * bytes, x.as<std::byte>() + offset * bytes, size_t(bytes));
  }
}

}  // namespace

void register_gather(OpRegistry& ops) {
  ops.add({.name = "gather",
           .attributes = &attribute_type<Gather>(),
           .min_inputs = 2,
           .max_inputs = 2,
           .infer = infer,
           .reference = reference,
           .table_operand = 0});
}

}  // namespace headrace
