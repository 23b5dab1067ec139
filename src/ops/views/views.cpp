#include "ops/views/views.h"

#include <algorithm>
#include <cstring>

#include "ops/reference.h"
#include "ops/views/strides.h"

namespace headrace {
namespace {

std::vector<TensorType> infer_view(const OpCall& call) {
  const TensorType& x = call.input(0);
  const Shape& shape = call.as<View>().shape;
  if (x.shape.numel() != shape.numel())
    call.reject(fmt::format("has {} elements, the wanted shape {} has {}", x.shape.numel().to_string(), shape.to_string(),
                            shape.numel().to_string()));
  if (is_block(x.dtype))
    call.want(shape.rank() > 0 && shape[-1].divided_by(info(x.dtype).block_elements), "the last axis is wanted as whole blocks");
  return {{x.dtype, shape}};
}

std::optional<Tensor> view_view(const OpCall&, const Tensor& x, const Sizes& output) {
  const std::optional<Sizes> strides = view_strides(x.sizes, x.strides, output);
  if (!strides) return std::nullopt;
  return Tensor{x.data, x.dtype, output, *strides};
}

std::vector<int> permutation(const OpCall& call) {
  const int rank = call.input(0).shape.rank();
  std::vector<int> axes;
  for (int64_t axis : call.as<Permute>().axes) axes.push_back(normalize_axis(call, axis, rank));
  std::vector<int> sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  call.want(int(axes.size()) == rank && std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end(),
            "axes are wanted as each axis of x once");
  return axes;
}

std::vector<TensorType> infer_permute(const OpCall& call) {
  const TensorType& x = call.input(0);
  Shape shape;
  const std::vector<int> axes = permutation(call);
  for (int axis : axes) shape.push_back(x.shape[axis]);
  if (is_block(x.dtype))
    call.want(axes.back() == x.shape.rank() - 1, "the last axis of a block type stays the last: cast it to floats first");
  return {{x.dtype, shape}};
}

std::optional<Tensor> view_permute(const OpCall& call, const Tensor& x, const Sizes&) {
  Tensor y{x.data, x.dtype, {}, {}};
  for (int axis : permutation(call)) {
    y.sizes.push_back(x.sizes[axis]);
    y.strides.push_back(x.strides[axis]);
  }
  return y;
}

// How many elements `step` apart fit into a length from a file, which may be any.
int64_t count_steps(int64_t length, int64_t step) { return length <= 0 ? 0 : (length - 1) / step + 1; }

std::vector<TensorType> infer_slice(const OpCall& call) {
  const Slice& slice = call.as<Slice>();
  TensorType y = call.input(0);
  const int axis = normalize_axis(call, slice.axis, y.shape.rank());
  const Dim size = y.shape[axis];
  call.want(slice.step >= 1 && slice.step <= 1 << 30, "step is wanted as 1 or more, and at most 2^30");
  Dim length;
  if (size.is_constant()) {
    const int64_t n = size.value();
    const auto bound = [n](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + n : i, 0, n); };
    length = count_steps(bound(slice.end) - bound(slice.begin), slice.step);
  } else {
    const auto bound = [&size](int64_t i) { return i == kToEnd ? size : i < 0 ? size + Dim(i) : Dim(i); };
    const Dim span = bound(slice.end) - bound(slice.begin);
    const std::optional<Dim> steps = span.is_constant() ? Dim(count_steps(span.value(), slice.step)) : span.divided_by(slice.step);
    if (!steps) call.reject(fmt::format("{} elements cannot be counted in steps of {} before run time", span.to_string(), slice.step));
    length = *steps;
  }
  y.shape[axis] = length;
  if (is_block(y.dtype) && axis == y.shape.rank() - 1) {
    const int64_t block = info(y.dtype).block_elements;
    call.want(slice.step == 1 && slice.begin % block == 0 && length.divided_by(block), "rows of a block type are cut only between blocks");
  }
  return {y};
}

std::optional<Tensor> slice_of(const OpCall& call, const Tensor& x, const Sizes& output) {
  const Slice& slice = call.as<Slice>();
  const int axis = normalize_axis(call, slice.axis, x.rank());
  const int64_t size = x.sizes[axis], begin = slice.begin < 0 ? std::max<int64_t>(0, slice.begin + size) : slice.begin;
  if (output[axis] < 0) return std::nullopt;
  if (output[axis] > 0 && (begin >= size || (output[axis] - 1) * slice.step >= size - begin)) return std::nullopt;
  Sizes strides = x.strides;
  strides[axis] *= slice.step;
  return view_at(x, output.numel() == 0 ? 0 : begin * x.strides[axis], output, strides);
}

// A copy where the axis, whose size is a symbol, may turn out too short for a slice of so many elements.
std::optional<Tensor> view_slice(const OpCall& call, const Tensor& x, const Sizes& output) {
  const int axis = normalize_axis(call, call.as<Slice>().axis, x.rank());
  if (!call.input(0).shape[axis].is_constant() && call.op.infer(call)[0].shape[axis].is_constant()) return std::nullopt;
  return slice_of(call, x, output);
}

std::vector<TensorType> infer_expand(const OpCall& call) {
  const TensorType& x = call.input(0);
  const Shape& shape = call.as<Expand>().shape;
  bool fits = shape.rank() >= x.shape.rank();
  for (int i = 1; fits && i <= x.shape.rank(); ++i)
    fits = x.shape[-i] == shape[-i] || (x.shape[-i] == Dim(1) && !(is_block(x.dtype) && i == 1));
  if (!fits) call.reject(fmt::format("does not expand to {}: only axes of size 1 repeat, and new ones come first", shape.to_string()));
  return {{x.dtype, shape}};
}

std::optional<Tensor> view_expand(const OpCall&, const Tensor& x, const Sizes& output) {
  Tensor y{x.data, x.dtype, output, output};
  for (int i = 1; i <= output.rank(); ++i) y.strides[-i] = i > x.rank() || (x.sizes[-i] == 1 && output[-i] != 1) ? 0 : x.strides[-i];
  return y;
}

void reference(const OpCall& call, std::span<const Tensor> in, std::span<const Tensor> out) {
  const std::optional<Tensor> source = elements_of_view(call, in[0], out[0].sizes);
  if (source) std::memcpy(out[0].data, contiguous_copy(*source).view().data, size_t(out[0].bytes()));
  else std::memset(out[0].data, 0, size_t(out[0].bytes()));
}

}  // namespace

std::optional<Tensor> elements_of_view(const OpCall& call, const Tensor& x, const Sizes& output) {
  if (call.op.name == "slice") return slice_of(call, x, output);
  std::optional<Tensor> view = call.op.view(call, x, output);
  if (!view && x.numel() == output.numel()) view = x;
  return view;
}

void register_views(OpRegistry& ops) {
  const auto add = [&](const char* name, const AttributeType& attributes, auto infer, auto view) {
    ops.add(
        {.name = name, .attributes = &attributes, .min_inputs = 1, .max_inputs = 1, .infer = infer, .reference = reference, .view = view});
  };
  add("view", attribute_type<View>(), infer_view, view_view);
  add("permute", attribute_type<Permute>(), infer_permute, view_permute);
  add("slice", attribute_type<Slice>(), infer_slice, view_slice);
  add("expand", attribute_type<Expand>(), infer_expand, view_expand);
}

}  // namespace headrace
