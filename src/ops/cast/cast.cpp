#include "ops/cast/cast.h"

#include <algorithm>
#include <cmath>

#include "ops/reference.h"

namespace headrace {
namespace {

std::vector<TensorType> infer(const OpCall& call) {
  const DType to = call.as<Cast>().dtype;
  call.want(!is_block(to), "casting to a block type is quantization, which this op does not do");
  return {{to, call.input(0).shape}};
}

void reference(const OpCall&, std::span<const Tensor> in, std::span<const Tensor> out) {
  const bool from_integers = !is_float(in[0].dtype) && !is_block(in[0].dtype);
  if (from_integers && !is_float(out[0].dtype)) return write_integers(out[0], read_integers(in[0]));
  std::vector<float> values = read_floats(in[0]);
  if (is_integer(out[0].dtype)) std::transform(values.begin(), values.end(), values.begin(), [](float v) { return std::trunc(v); });
  write_floats(out[0], values);
}

}  // namespace

void register_cast(OpRegistry& ops) {
  ops.add({.name = "cast",
           .attributes = &attribute_type<Cast>(),
           .min_inputs = 1,
           .max_inputs = 1,
           .infer = infer,
           .reference = reference,
           .pointwise = true,
           .row_wise = true});
}

}  // namespace headrace
