#include "ops/compare/compare.h"

#include "ops/reference.h"

namespace headrace {
namespace {

// Operands in the type that both are promoted to, as PyTorch compares them: 257 is 256 in bf16.
std::vector<float> read_as(const Tensor& x, DType dtype) {
  HostTensor rounded(dtype, x.sizes);
  write_floats(rounded, read_floats(x));
  return read_floats(rounded);
}

template <typename T>
std::vector<int64_t> compare_all(Comparison comparison, std::span<const Tensor> in, const Sizes& sizes, const std::vector<T>& x,
                                 const std::vector<T>& y) {
  std::vector<int64_t> z(size_t(sizes.numel()));
  for_each_broadcast(sizes, in, [&](int64_t i, std::span<const int64_t> at) { z[i] = compare(comparison, x[at[0]], y[at[1]]); });
  return z;
}

OpDef definition(Comparison comparison) {
  OpDef op{.name = std::string(kComparisonNames[int(comparison)]), .min_inputs = 2, .max_inputs = 2, .pointwise = true, .row_wise = true};
  op.commutative = comparison <= Comparison::kNe || comparison >= Comparison::kLogicalAnd;
  op.infer = [](const OpCall& call) -> std::vector<TensorType> {
    const TensorType &x = call.input(0), &y = call.input(1);
    call.want(!is_block(promote(call, x.dtype, y.dtype)), "block types are not compared: cast them to floats first");
    return {{DType::kBool, broadcast_shapes(call, x.shape, y.shape)}};
  };
  op.reference = [comparison](const OpCall& call, std::span<const Tensor> in, std::span<const Tensor> out) {
    const Sizes& sizes = out[0].sizes;
    const DType dtype = promote(call, in[0].dtype, in[1].dtype);
    write_integers(out[0], is_float(dtype) ? compare_all(comparison, in, sizes, read_as(in[0], dtype), read_as(in[1], dtype))
                                           : compare_all(comparison, in, sizes, read_integers(in[0]), read_integers(in[1])));
  };
  return op;
}

}  // namespace

void register_compare(OpRegistry& ops) {
  for (size_t i = 0; i < std::size(kComparisonNames); ++i) ops.add(definition(Comparison(i)));
}

}  // namespace headrace
