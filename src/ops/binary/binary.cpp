#include "ops/binary/binary.h"

#include <algorithm>
#include <cmath>

#include "ops/reference.h"

namespace headrace {
namespace {

float apply(BinaryFunction function, float x, float y) {
  switch (function) {
    case BinaryFunction::kAdd: return x + y;
    case BinaryFunction::kSub: return x - y;
    case BinaryFunction::kMul: return x * y;
    case BinaryFunction::kDiv: return x / y;
    case BinaryFunction::kPow: return std::pow(x, y);
    case BinaryFunction::kMaximum: return std::isnan(x) || x > y ? x : y;
    case BinaryFunction::kMinimum: return std::isnan(x) || x < y ? x : y;
    case BinaryFunction::kRemainder: return remainder_of(x, y);
  }
  return 0;
}

uint64_t integer_pow(uint64_t x, int64_t exponent) {
  if (exponent < 0) return x == 1 ? 1 : x == uint64_t(-1) ? (exponent % 2 ? x : 1) : 0;
  uint64_t product = 1;
  for (uint64_t e = uint64_t(exponent); e; e >>= 1, x *= x)
    if (e & 1) product *= x;
  return product;
}

int64_t apply(BinaryFunction function, int64_t x, int64_t y) {  // unsigned inside: wraps around
  const uint64_t a = uint64_t(x), b = uint64_t(y);
  switch (function) {
    case BinaryFunction::kAdd: return int64_t(a + b);
    case BinaryFunction::kSub: return int64_t(a - b);
    case BinaryFunction::kMul: return int64_t(a * b);
    case BinaryFunction::kPow: return int64_t(integer_pow(a, y));
    case BinaryFunction::kMaximum: return std::max(x, y);
    case BinaryFunction::kMinimum: return std::min(x, y);
    case BinaryFunction::kRemainder: return y == 0 || y == -1 ? 0 : x % y && (x % y < 0) != (y < 0) ? x % y + y : x % y;
    case BinaryFunction::kDiv: break;  // gives floats
  }
  return 0;
}

template <typename T>
std::vector<T> apply_all(BinaryFunction function, std::span<const Tensor> in, const Sizes& sizes, const std::vector<T>& x,
                         const std::vector<T>& y) {
  std::vector<T> z(size_t(sizes.numel()));
  for_each_broadcast(sizes, in, [&](int64_t i, std::span<const int64_t> at) { z[i] = apply(function, x[at[0]], y[at[1]]); });
  return z;
}

OpDef definition(BinaryFunction function) {
  OpDef op{.name = std::string(kBinaryNames[int(function)]), .min_inputs = 2, .max_inputs = 2, .pointwise = true, .row_wise = true};
  op.commutative = function == BinaryFunction::kAdd || function == BinaryFunction::kMul || function == BinaryFunction::kMaximum ||
                   function == BinaryFunction::kMinimum;
  op.infer = [function](const OpCall& call) -> std::vector<TensorType> {
    const TensorType &x = call.input(0), &y = call.input(1);
    DType dtype = promote(call, x, y);
    call.want(!is_block(dtype), "block types take part in no arithmetic: cast them to floats first");
    if (function == BinaryFunction::kDiv && !is_float(dtype)) dtype = DType::kF32;
    return {{dtype, broadcast_shapes(call, x.shape, y.shape)}};
  };
  op.reference = [function](const OpCall&, std::span<const Tensor> in, std::span<const Tensor> out) {
    const Sizes& sizes = out[0].sizes;
    if (is_float(out[0].dtype)) write_floats(out[0], apply_all(function, in, sizes, read_floats(in[0]), read_floats(in[1])));
    else write_integers(out[0], apply_all(function, in, sizes, read_integers(in[0]), read_integers(in[1])));
  };
  return op;
}

}  // namespace

float remainder_of(float x, float y) {
  const float rest = std::fmod(x, y);
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

void register_binary(OpRegistry& ops) {
  for (size_t i = 0; i < std::size(kBinaryNames); ++i) ops.add(definition(BinaryFunction(i)));
}

}  // namespace headrace
