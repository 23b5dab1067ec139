#include "ops/quantize/quantize.h"

#include <cmath>

#include "ops/reference.h"
#include "ops/spelling.h"
#include "ops/views/views.h"

namespace headrace {
namespace {

// Scale and zero point fit x.
void want_scales(const OpCall& call, int64_t axis) {
  const Shape &x = call.input(0).shape, &scale = call.input(1).shape;
  call.want(is_float(call.input(1).dtype), "the scale is wanted as floats");
  if (call.num_inputs() == 3)
    call.want(is_integer(call.input(2).dtype) && call.input(2).shape == scale, "the zero point is wanted as integers of the scale's shape");
  bool fits = true;
  if (scale.rank() == 1) {
    fits = x.rank() >= 1 && (scale[0] == Dim(1) || scale[0] == x[normalize_axis(call, axis, x.rank())]);
  } else if (scale.rank() > 1) {
    fits = scale.rank() == x.rank();
    for (int i = 0; fits && i < x.rank(); ++i) fits = scale[i] == Dim(1) || scale[i] == x[i];
  }
  call.want(fits, "the scale is wanted as one number, one for each element along the axis, or with x's axes, each of x's size or 1");
}

std::vector<TensorType> infer_quantize(const OpCall& call) {
  const Quantize& a = call.as<Quantize>();
  call.want(is_float(call.input(0).dtype), "x is wanted as floats");
  call.want(a.dtype == DType::kI8 || a.dtype == DType::kU8, "dtype is wanted as i8 or u8");
  want_scales(call, a.axis);
  return {{a.dtype, call.input(0).shape}};
}

std::vector<TensorType> infer_dequantize(const OpCall& call) {
  const Dequantize& a = call.as<Dequantize>();
  call.want(is_integer(call.input(0).dtype), "q is wanted as integers (block types: see cast)");
  call.want(is_float(a.dtype), "dtype is wanted as a float type");
  want_scales(call, a.axis);
  return {{a.dtype, call.input(0).shape}};
}

// y = function(x, scale, zero point), element by element.
void for_each_scaled(std::span<const Tensor> in, const Tensor& out, int64_t axis, float (*function)(float, float, float)) {
  std::vector<Tensor> operands = {in[0]};
  for (const Tensor& t : in.subspan(1)) operands.push_back(along_axis(t, in[0].rank(), axis));
  const std::vector<float> x = read_floats(in[0]), scale = read_floats(in[1]);
  const std::vector<float> zero = in.size() == 3 ? read_floats(in[2]) : std::vector<float>(scale.size());
  std::vector<float> y(x.size());
  for_each_broadcast(out.sizes, operands, [&](int64_t i, std::span<const int64_t> at) {
    y[size_t(i)] = function(x[size_t(at[0])], scale[size_t(at[1])], zero[size_t(at[1])]);
  });
  write_floats(out, y);  // integers saturate, NaN becomes the lowest
}

void reference_quantize(const OpCall& call, std::span<const Tensor> in, std::span<const Tensor> out) {
  for_each_scaled(in, out[0], call.as<Quantize>().axis,
                  [](float x, float scale, float zero_point) { return std::nearbyint(x / scale) + zero_point; });
}

void reference_dequantize(const OpCall& call, std::span<const Tensor> in, std::span<const Tensor> out) {
  for_each_scaled(in, out[0], call.as<Dequantize>().axis, [](float q, float scale, float zero_point) { return (q - zero_point) * scale; });
}

// A scale or zero point in fp32 that broadcasts to x.
Value spread(Graph& graph, Value scale, Value x, int64_t axis) {
  scale = cast_to(graph, scale, DType::kF32);
  const int rank = x.shape().rank();
  if (scale.shape().rank() != 1 || rank <= 1) return scale;
  const int64_t at = axis < 0 ? axis + rank : axis;
  if (at == rank - 1) return scale;
  std::vector<Dim> shape(static_cast<size_t>(rank), Dim(1));
  shape[size_t(at)] = scale.shape()[0];
  return graph.emit("view", View{.shape = Shape(std::move(shape))}, {scale});
}

std::vector<Value> decompose_quantize(Graph& graph, const Node& node, std::span<const Value> in) {
  const auto& a = node.attributes_as<Quantize>();
  Value y = graph.emit("div", {cast_to(graph, in[0], DType::kF32), spread(graph, in[1], in[0], a.axis)});
  y = graph.emit("round", {y});
  if (in.size() == 3) y = graph.emit("add", {y, spread(graph, in[2], in[0], a.axis)});
  return {cast_to(graph, y, a.dtype)};
}

std::vector<Value> decompose_dequantize(Graph& graph, const Node& node, std::span<const Value> in) {
  const auto& a = node.attributes_as<Dequantize>();
  Value y = cast_to(graph, in[0], DType::kF32);
  if (in.size() == 3) y = graph.emit("sub", {y, spread(graph, in[2], in[0], a.axis)});
  return {cast_to(graph, graph.emit("mul", {y, spread(graph, in[1], in[0], a.axis)}), a.dtype)};
}

}  // namespace

Tensor along_axis(const Tensor& scale, int rank, int64_t axis) {
  if (scale.rank() != 1 || rank <= 1) return scale;
  Tensor spread{scale.data, scale.dtype, {}, {}};
  for (int i = 0; i < rank; ++i) {
    const bool is_axis = i == (axis < 0 ? axis + rank : axis);
    spread.sizes.push_back(is_axis ? scale.sizes[0] : 1);
    spread.strides.push_back(is_axis ? scale.strides[0] : 0);
  }
  return spread;
}

void register_quantize(OpRegistry& ops) {
  ops.add({.name = "quantize",
           .attributes = &attribute_type<Quantize>(),
           .min_inputs = 2,
           .max_inputs = 3,
           .infer = infer_quantize,
           .reference = reference_quantize,
           .decompose = decompose_quantize,
           .row_wise = true});
  ops.add({.name = "dequantize",
           .attributes = &attribute_type<Dequantize>(),
           .min_inputs = 2,
           .max_inputs = 3,
           .infer = infer_dequantize,
           .reference = reference_dequantize,
           .decompose = decompose_dequantize,
           .row_wise = true});
}

}  // namespace headrace
