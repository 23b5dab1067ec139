#include "ops/arange/arange.h"

#include <numeric>

#include "ops/reference.h"

namespace headrace {
namespace {

std::vector<TensorType> infer(const OpCall& call) {
  const Arange& a = call.as<Arange>();
  call.want(a.shape.rank() == 1, "the shape is wanted with one axis");
  call.want(is_integer(a.dtype) || is_float(a.dtype), "dtype is wanted as integers or floats");
  return {{a.dtype, a.shape}};
}

void reference(const OpCall&, std::span<const Tensor>, std::span<const Tensor> out) {
  std::vector<int64_t> values(static_cast<size_t>(out[0].numel()));
  std::iota(values.begin(), values.end(), 0);
  if (is_integer(out[0].dtype)) write_integers(out[0], values);
  else write_floats(out[0], {values.begin(), values.end()});
}

}  // namespace

void register_arange(OpRegistry& ops) {
  ops.add({.name = "arange", .attributes = &attribute_type<Arange>(), .infer = infer, .reference = reference});
}

}  // namespace headrace
