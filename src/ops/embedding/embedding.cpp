#include "ops/embedding/embedding.h"

#include <algorithm>

#include "ops/reference.h"

namespace headrace {
namespace {

std::vector<TensorType> infer(const OpCall& call) {
  const TensorType &ids = call.input(0), &table = call.input(1);
  call.want(ids.dtype == DType::kI32 || ids.dtype == DType::kI64, "ids are wanted as i32 or i64");
  call.want(table.shape.rank() == 2, "the table is wanted as (rows, hidden)");
  call.want(is_float(call.as<Embedding>().dtype), "the result is wanted as floats");
  Shape shape = ids.shape;
  shape.push_back(table.shape[1]);
  return {{call.as<Embedding>().dtype, shape}};
}

void reference(const OpCall&, std::span<const Tensor> in, std::span<const Tensor> out) {
  const std::vector<int64_t> ids = read_integers(in[0]);
  const std::vector<float> table = read_floats(in[1]);
  const int64_t rows = in[1].sizes[0], hidden = in[1].sizes[1];
  std::vector<float> y(size_t(out[0].numel()));
  for (size_t i = 0; i < ids.size() && rows > 0; ++i)
    std::copy_n(table.begin() + std::clamp<int64_t>(ids[i], 0, rows - 1) * hidden, hidden, y.begin() + int64_t(i) * hidden);
  write_floats(out[0], y);
}

}  // namespace

void register_embedding(OpRegistry& ops) {
  ops.add({.name = "embedding",
           .attributes = &attribute_type<Embedding>(),
           .min_inputs = 2,
           .max_inputs = 2,
           .infer = infer,
           .reference = reference,
           .table_operand = 1});
}

}  // namespace headrace
