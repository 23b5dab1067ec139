#include "ops/topk/topk.h"

#include <algorithm>
#include <numeric>

#include "ops/reference.h"

namespace headrace {
namespace {

std::vector<TensorType> infer(const OpCall& call) {
  const TopK& top = call.as<TopK>();
  TensorType y = call.input(0);
  call.want(!is_block(y.dtype) && y.dtype != DType::kBool, "x is wanted as floats or integers: cast it first");
  Dim& size = y.shape[normalize_axis(call, top.axis, y.shape.rank())];
  call.want(top.k >= 0, "k is wanted as 0 or more");
  if (size.is_constant() && size.value() < top.k) call.reject(fmt::format("k is {}, the axis has {} elements", top.k, size.value()));
  size = top.k;
  return {y, {DType::kI64, y.shape}};
}

template <typename T>
bool comes_before(bool largest, T a, T b) {
  if (largest) return b == b && (a != a || a > b);
  return a == a && (b != b || a < b);
}

template <typename T>
std::vector<T> top_of(const TopK& top, const std::vector<T>& x, const AxisSplit& split, std::vector<int64_t>& indices) {
  std::vector<T> values(indices.size());
  std::vector<int64_t> order(static_cast<size_t>(split.length));
  for (int64_t o = 0; o < split.outer; ++o)
    for (int64_t n = 0; n < split.inner; ++n) {
      const auto at = [&](int64_t i) { return x[size_t((o * split.length + i) * split.inner + n)]; };
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) { return comes_before(top.largest, at(i), at(j)); });
      for (int64_t i = 0; i < std::min(top.k, split.length); ++i) {
        const size_t to = size_t((o * top.k + i) * split.inner + n);
        values[to] = at(order[size_t(i)]);
        indices[to] = order[size_t(i)];
      }
    }
  return values;
}

void reference(const OpCall& call, std::span<const Tensor> in, std::span<const Tensor> out) {
  const TopK& top = call.as<TopK>();
  const AxisSplit split(in[0].sizes, normalize_axis(call, top.axis, in[0].rank()));
  std::vector<int64_t> indices(static_cast<size_t>(out[1].numel()));
  if (is_float(in[0].dtype)) write_floats(out[0], top_of(top, read_floats(in[0]), split, indices));
  else write_integers(out[0], top_of(top, read_integers(in[0]), split, indices));
  write_integers(out[1], indices);
}

}  // namespace

void register_topk(OpRegistry& ops) {
  ops.add(
      {.name = "topk", .attributes = &attribute_type<TopK>(), .min_inputs = 1, .max_inputs = 1, .infer = infer, .reference = reference});
}

}  // namespace headrace
