#include "ops/reduce/reduce.h"

#include <cmath>
#include <limits>

#include "ops/reference.h"

namespace headrace {
namespace {

// Which axes go away.
std::vector<bool> reduced_axes(const OpCall& call) {
  const int rank = call.input(0).shape.rank();
  const std::vector<int64_t>& axes = call.as<Reduce>().axes;
  std::vector<bool> reduced(size_t(rank), axes.empty());
  for (int64_t axis : axes) {
    const int at = normalize_axis(call, axis, rank);
    call.want(!reduced[at], fmt::format("axis {} is named twice", axis));
    reduced[at] = true;
  }
  return reduced;
}

DType sum_dtype(DType x) { return is_float(x) ? x : DType::kI64; }

std::vector<TensorType> infer(Reduction reduction, const OpCall& call) {
  const TensorType& x = call.input(0);
  call.want(!is_block(x.dtype), "block types are not reduced: cast them to floats first");
  call.want(reduction != Reduction::kMean || is_float(x.dtype), "mean is of floats: cast x first");
  call.want(reduction != Reduction::kArgmax || call.as<Reduce>().axes.size() <= 1,
            "argmax is over one axis, or over all when none is named");
  const std::vector<bool> reduced = reduced_axes(call);
  Shape shape;
  for (int i = 0; i < x.shape.rank(); ++i) {
    if (reduced[i] && reduction > Reduction::kMean) call.want(x.shape[i] != Dim(0), "nothing is the largest or smallest of no elements");
    if (!reduced[i]) shape.push_back(x.shape[i]);
    else if (call.as<Reduce>().keepdim) shape.push_back(1);
  }
  const DType dtype = reduction == Reduction::kArgmax ? DType::kI64 : reduction <= Reduction::kProd ? sum_dtype(x.dtype) : x.dtype;
  return {{dtype, shape}};
}

template <typename T>
bool comes_before(Reduction reduction, T a, T b) {  // a is taken rather than b
  if (b != b) return false;
  if (a != a) return true;
  return reduction == Reduction::kMin ? a < b : a > b;
}

template <typename T>
T sum_of(T a, T b) {
  if constexpr (std::is_integral_v<T>) return T(uint64_t(a) + uint64_t(b));  // wraps around
  else return a + b;
}

template <typename T>
T product_of(T a, T b) {
  if constexpr (std::is_integral_v<T>) return T(uint64_t(a) * uint64_t(b));  // wraps around
  else return a * b;
}

// The elements that one result is made of, in order.
template <typename T>
T reduce_values(Reduction reduction, const std::vector<T>& values, int64_t& index) {
  T result = !values.empty() ? values[0] : T(reduction == Reduction::kProd);
  index = 0;
  for (size_t i = 1; i < values.size(); ++i) {
    if (reduction == Reduction::kProd) result = product_of(result, values[i]);
    else if (reduction <= Reduction::kMean) result = sum_of(result, values[i]);
    else if (comes_before(reduction, values[i], result)) result = values[i], index = int64_t(i);
  }
  return reduction == Reduction::kMean ? result / T(values.size()) : result;
}

template <typename T>
void reduce_all(Reduction reduction, const std::vector<bool>& reduced, const Tensor& x, const std::vector<T>& values,
                std::vector<T>& results, std::vector<int64_t>& indices) {
  std::vector<std::vector<T>> groups(results.size());
  for (int64_t i = 0; i < int64_t(values.size()); ++i) {
    int64_t rest = i, to = 0, stride = 1;
    for (int axis = x.rank() - 1; axis >= 0; --axis) {
      if (!reduced[axis]) to += rest % x.sizes[axis] * stride, stride *= x.sizes[axis];
      rest /= x.sizes[axis];
    }
    groups[to].push_back(values[i]);
  }
  for (size_t i = 0; i < groups.size(); ++i) results[i] = reduce_values(reduction, groups[i], indices[i]);
}

void reference(Reduction reduction, const OpCall& call, std::span<const Tensor> in, std::span<const Tensor> out) {
  const std::vector<bool> reduced = reduced_axes(call);
  const size_t count = size_t(out[0].numel());
  std::vector<int64_t> indices(count);
  if (is_float(in[0].dtype)) {
    std::vector<float> results(count);
    reduce_all(reduction, reduced, in[0], read_floats(in[0]), results, indices);
    if (reduction != Reduction::kArgmax) write_floats(out[0], results);
  } else {
    std::vector<int64_t> results(count);
    reduce_all(reduction, reduced, in[0], read_integers(in[0]), results, indices);
    if (reduction != Reduction::kArgmax) write_integers(out[0], results);
  }
  if (reduction == Reduction::kArgmax) write_integers(out[0], indices);
}

std::vector<TensorType> infer_cumsum(const OpCall& call) {
  const TensorType& x = call.input(0);
  call.want(!is_block(x.dtype), "block types are not summed: cast them to floats first");
  normalize_axis(call, call.as<CumSum>().axis, x.shape.rank());
  return {{sum_dtype(x.dtype), x.shape}};
}

template <typename T>
std::vector<T> cumulate(std::vector<T> values, const AxisSplit& split) {
  for (int64_t o = 0; o < split.outer; ++o)
    for (int64_t i = split.inner; i < split.length * split.inner; ++i) {
      T& value = values[size_t(o * split.length * split.inner + i)];
      value = sum_of(value, values[size_t(o * split.length * split.inner + i - split.inner)]);
    }
  return values;
}

void reference_cumsum(const OpCall& call, std::span<const Tensor> in, std::span<const Tensor> out) {
  const AxisSplit split(in[0].sizes, normalize_axis(call, call.as<CumSum>().axis, in[0].rank()));
  if (is_float(in[0].dtype)) write_floats(out[0], cumulate(read_floats(in[0]), split));
  else write_integers(out[0], cumulate(read_integers(in[0]), split));
}

}  // namespace

void register_reduce(OpRegistry& ops) {
  for (size_t i = 0; i < std::size(kReductionNames); ++i) {
    OpDef op{.name = std::string(kReductionNames[i]), .attributes = &attribute_type<Reduce>(), .min_inputs = 1, .max_inputs = 1};
    op.infer = [r = Reduction(i)](const OpCall& call) { return infer(r, call); };
    op.reference = [r = Reduction(i)](const OpCall& call, auto in, auto out) { reference(r, call, in, out); };
    ops.add(std::move(op));
  }
  ops.add({.name = "cumsum",
           .attributes = &attribute_type<CumSum>(),
           .min_inputs = 1,
           .max_inputs = 1,
           .infer = infer_cumsum,
           .reference = reference_cumsum});
}

}  // namespace headrace
