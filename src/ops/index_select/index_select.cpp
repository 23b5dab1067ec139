#include "ops/index_select/index_select.h"

#include <algorithm>
#include <cstring>

#include "ops/reference.h"

namespace headrace {
namespace {

std::vector<TensorType> infer(const OpCall& call) {
  TensorType y = call.input(0);
  const TensorType& indices = call.input(1);
  const int axis = normalize_axis(call, call.as<IndexSelect>().axis, y.shape.rank());
  call.want((indices.dtype == DType::kI32 || indices.dtype == DType::kI64) && indices.shape.rank() == 1,
            "indices are wanted as i32 or i64 with one axis");
  call.want(!is_block(y.dtype) || axis < y.shape.rank() - 1,
            "elements of a block type's last axis are not chosen one by one: cast it to floats first");
  y.shape[axis] = indices.shape[0];
  return {y};
}

void reference(const OpCall& call, std::span<const Tensor> in, std::span<const Tensor> out) {
  const AxisSplit split(in[0].sizes, normalize_axis(call, call.as<IndexSelect>().axis, in[0].rank()));
  const std::vector<int64_t> indices = read_integers(in[1]);
  if (in[0].numel() == 0) return std::memset(out[0].data, 0, size_t(out[0].bytes())), void();
  const int64_t bytes = storage_bytes(in[0].dtype, split.inner);
  std::byte* to = out[0].as<std::byte>();
  for (int64_t o = 0; o < split.outer; ++o)
    for (int64_t index : indices) {
      std::memcpy(to, in[0].as<std::byte>() + (o * split.length + std::clamp<int64_t>(index, 0, split.length - 1)) * bytes, size_t(bytes));
      to += bytes;
    }
}

}  // namespace

void register_index_select(OpRegistry& ops) {
  ops.add({.name = "index_select",
           .attributes = &attribute_type<IndexSelect>(),
           .min_inputs = 2,
           .max_inputs = 2,
           .infer = infer,
           .reference = reference,
           .table_operand = 0});
}

}  // namespace headrace
