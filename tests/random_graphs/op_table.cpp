#include "random_graphs/op_table.h"

#include <algorithm>

#include "core/error.h"
#include "ops/arange/arange.h"
#include "ops/cast/cast.h"
#include "ops/concat/concat.h"
#include "ops/conv/conv.h"
#include "ops/embedding/embedding.h"
#include "ops/gated/gated.h"
#include "ops/gather/gather.h"
#include "ops/group_norm/group_norm.h"
#include "ops/index_select/index_select.h"
#include "ops/layer_norm/layer_norm.h"
#include "ops/pad/pad.h"
#include "ops/pool/pool.h"
#include "ops/quantize/quantize.h"
#include "ops/reduce/reduce.h"
#include "ops/rms_norm/rms_norm.h"
#include "ops/rope/rope.h"
#include "ops/scaled_dot_product_attention/scaled_dot_product_attention.h"
#include "ops/softmax/softmax.h"
#include "ops/topk/topk.h"
#include "ops/unary/unary.h"
#include "ops/views/views.h"

namespace headrace::fuzzing {
namespace {

// ---------------------------------------------------------------------------------------------------------------- element by element

void binary(Maker& m, std::string_view op) {
  const Value x = m.numbers(), y = m.random.chance(0.1) ? x : m.beside(x);
  m.random.chance(0.5) ? m.graph.emit(op, {x, y}) : m.graph.emit(op, {y, x});
}

void quotient(Maker& m, std::string_view op) {
  const Value x = m.random.chance(0.1) ? m.numbers() : m.within(0.05, 1e4);
  m.graph.emit(op, {m.beside(x), x});
}

void power(Maker& m, std::string_view op) {
  if (m.random.chance(0.5)) {
    const Value x = m.numbers();
    m.graph.emit(op, {x, m.number(double(m.random.between(0, 3)), x.dtype())});
  } else {
    const Value x = m.within(0.05, 20);
    m.graph.emit(op, {x, m.number(m.random.pick({0.5, -0.5, -1.0, 2.0, 1.5}), x.dtype())});
  }
}

void unary(Maker& m, std::string_view op) { m.graph.emit(op, {m.numbers()}); }
void of_moderate(Maker& m, std::string_view op) { m.graph.emit(op, {m.random.chance(0.05) ? m.floats() : m.within(-20, 8)}); }
void of_positive(Maker& m, std::string_view op) { m.graph.emit(op, {m.random.chance(0.05) ? m.floats() : m.within(0.01, 1e4)}); }
void gelu(Maker& m, std::string_view op) { m.graph.emit(op, Gelu{.tanh = m.random.chance(0.5)}, {m.floats()}); }

void cast(Maker& m, std::string_view op) { m.graph.emit(op, Cast{m.number_type()}, {m.numbers()}); }

Value scale_of(Maker& m, Value x) {  // one, one for each element of the last axis, or one for each row
  Shape shape;
  if (m.random.chance(0.7) && x.shape().rank() > 0) {
    if (m.random.chance(0.5)) shape = {x.shape()[-1]};
    else shape = x.shape(), shape[-1] = 1;
  }
  return m.input("positive", DType::kF32, shape);
}

void quantize(Maker& m, std::string_view op) {
  const Value x = m.floats();
  std::vector<Value> operands{x, scale_of(m, x)};
  const DType dtype = m.random.pick({DType::kI8, DType::kU8});
  if (m.random.chance(0.3)) operands.push_back(m.input("x", dtype, operands[1].shape()));
  m.graph.emit(op, Quantize{.dtype = dtype}, operands);
}

void dequantize(Maker& m, std::string_view op) {
  const Value x = m.leaf(m.random.pick({DType::kI8, DType::kU8}), m.shape(int(m.random.between(1, 3))));
  std::vector<Value> operands{x, scale_of(m, x)};
  if (m.random.chance(0.3)) operands.push_back(m.input("x", x.dtype(), operands[1].shape()));
  m.graph.emit(op, Dequantize{.dtype = m.float_type()}, operands);
}

void where(Maker& m, std::string_view op) {
  const Value x = m.numbers();
  const Value y = m.beside(x);
  m.graph.emit(op, {m.boolean(x.shape()), x, y});
}

void gated(Maker& m, std::string_view op) {
  const Value x = m.floats(1);
  m.graph.emit(op, Gated{m.random.pick({Activation::kSilu, Activation::kGeluTanh, Activation::kGeluErf, Activation::kRelu})},
               {x.shape()[-1].divided_by(2) ? x : m.leaf(x.dtype(), {m.size(), m.fixed_size() * 2})});
}

// ---------------------------------------------------------------------------------------------------------------- along an axis

void softmax(Maker& m, std::string_view op) {
  const Value x = m.floats(1);
  m.graph.emit(op, Softmax{m.random.chance(0.7) ? -1 : m.axis(x)}, {x});
}

void reduction(Maker& m, std::string_view op) {
  const Value x = op == "mean" ? m.floats(1) : m.numbers();
  Reduce reduce{.keepdim = m.random.chance(0.6)};
  if (x.shape().rank() && m.random.chance(0.9)) reduce.axes.push_back(m.random.chance(0.6) ? -1 : m.axis(x));
  if (x.shape().rank() && m.random.chance(0.15)) reduce.axes.push_back(m.axis(x));
  m.graph.emit(op, reduce, {x});
}

void cumsum(Maker& m, std::string_view op) {
  const Value x = m.numbers();
  m.graph.emit(op, CumSum{m.axis(x)}, {x});
}

Value norm_weight(Maker& m, Value x) {
  return m.random.chance(0.8) ? m.parameter(m.float_type(), {x.shape()[-1]}) : m.leaf(m.float_type(), {x.shape()[-1]});
}

void rms_norm(Maker& m, std::string_view op) {
  std::vector<Value> operands{m.floats(1)};
  const Value x = operands[0];
  if (op == "add_rms_norm") operands.push_back(m.like(x));
  operands.push_back(norm_weight(m, x));
  m.graph.emit_all(op, RmsNorm{.eps = m.random.pick({1e-6f, 1e-5f, 0.5f}), .weight_offset = m.random.chance(0.2) ? 1.0f : 0.0f}, operands);
}

void layer_norm(Maker& m, std::string_view op) {
  std::vector<Value> operands{m.floats(1)};
  const Value x = operands[0];
  if (op == "add_layer_norm") operands.push_back(m.like(x));
  for (int64_t i = m.random.between(0, 2); i > 0; --i) operands.push_back(norm_weight(m, x));
  m.graph.emit_all(op, LayerNorm{.eps = m.random.pick({1e-6f, 1e-5f, 0.5f}), .weight_offset = m.random.chance(0.2) ? 1.0f : 0.0f},
                   operands);
}

void group_norm(Maker& m, std::string_view op) {
  const int64_t groups = m.random.between(1, 3), channels = groups * m.random.between(1, 3);
  Shape shape = m.shape(int(m.random.between(2, 4)));
  shape[1] = channels;
  std::vector<Value> operands{m.leaf(m.float_type(), shape)};
  for (int64_t i = m.random.between(0, 2); i > 0; --i) operands.push_back(m.parameter(m.float_type(), {channels}));
  m.graph.emit(op, GroupNorm{.groups = groups}, operands);
}

void topk(Maker& m, std::string_view op) {
  const Value x = m.numbers();
  const int64_t axis = m.axis(x);
  m.graph.emit_all(
      op, TopK{.k = m.random.between(1, std::max<int64_t>(m.of(x.shape()[int(axis)]), 1)), .axis = axis, .largest = m.random.chance(0.6)},
      {x});
}

// ---------------------------------------------------------------------------------------------------------------- arrangement

void view(Maker& m, std::string_view op) {
  const Value x = m.numbers();
  Shape shape = x.shape();
  const int rank = shape.rank();
  const auto merged = [&](int at) {
    std::vector<Dim> dims = shape.dims();
    dims[size_t(at)] = dims[size_t(at)] * dims[size_t(at) + 1];
    dims.erase(dims.begin() + at + 1);
    return Shape(dims);
  };
  const auto split = [&](int at, int64_t by) {
    std::vector<Dim> dims = shape.dims();
    const std::optional<Dim> rest = dims[size_t(at)].divided_by(by);
    if (!rest) return shape;
    dims[size_t(at)] = *rest;
    dims.insert(dims.begin() + at + int(m.random.below(2)), by);
    return Shape(dims);
  };
  for (int64_t i = m.random.between(1, 2); i > 0; --i)
    if (shape.rank() > 1 && m.random.chance(0.5)) shape = merged(int(m.random.below(shape.rank() - 1)));
    else if (shape.rank() > 0 && shape.rank() < 5) shape = split(int(m.random.below(shape.rank())), m.random.pick({1, 2, 2, 3, 4, 8}));
  if (rank == 0) shape = {1};
  m.graph.emit(op, View{shape}, {x});
}

void permute(Maker& m, std::string_view op) {
  const Value x = m.numbers();
  std::vector<int64_t> axes;
  for (int i = 0; i < x.shape().rank(); ++i) axes.insert(axes.begin() + m.random.below(i + 1), i);
  if (m.random.chance(0.2))
    for (int64_t& axis : axes) axis -= x.shape().rank();
  m.graph.emit(op, Permute{axes}, {x});
}

void slice(Maker& m, std::string_view op) {
  const Value x = m.numbers();
  Slice slice{.axis = m.axis(x)};
  const int64_t size = m.of(x.shape()[int(slice.axis)]);
  slice.begin = m.random.between(m.random.chance(0.2) ? -size : 0, std::max<int64_t>(size - 1, 0));
  if (m.random.chance(0.7)) slice.end = m.random.chance(0.2) ? -m.random.between(0, size) : slice.begin + m.random.between(0, size);
  if (m.random.chance(0.2)) slice.step = m.random.between(2, 3);
  m.graph.emit(op, slice, {x});
}

void expand(Maker& m, std::string_view op) {
  const Value x = m.numbers();
  Shape shape;
  if (m.random.chance(0.5)) shape.push_back(m.random.chance(0.3) ? Dim(1) : m.size());
  for (const Dim& d : x.shape().dims()) shape.push_back(d == Dim(1) && m.random.chance(0.8) ? m.size() : d);
  m.graph.emit(op, Expand{shape}, {x});
}

void concat(Maker& m, std::string_view op) {
  const Value x = m.numbers();
  const int64_t axis = m.axis(x);
  std::vector<Value> operands{x};
  for (int64_t i = m.random.between(0, 3); i > 0; --i) {
    Shape shape = x.shape();
    shape[int(axis)] = m.size();
    operands.push_back(m.random.chance(0.2) ? x : m.random.chance(0.5) ? m.like(x) : m.leaf(x.dtype(), shape));
  }
  m.graph.emit(op, Concat{axis}, operands);
}

void pad(Maker& m, std::string_view op) {
  const Value x = m.numbers();
  Pad pad{.value = double(m.random.between(0, 2))};
  for (int64_t i = 2 * m.random.between(1, std::max(x.shape().rank(), 1)); i > 0; --i) pad.pads.push_back(m.random.between(0, 2));
  m.graph.emit(op, pad, {x});
}

void arange(Maker& m, std::string_view op) {
  m.graph.emit(op, Arange{.shape = {m.size()}, .dtype = m.random.pick({DType::kI64, DType::kI32, DType::kF32})}, {});
}

void gather(Maker& m, std::string_view op) {
  const Value x = m.numbers();
  const int64_t axis = m.axis(x);
  Shape shape = x.shape();
  shape[int(axis)] = m.size();
  m.graph.emit(op, Gather{axis}, {x, m.input("index", m.random.pick({DType::kI32, DType::kI64}), shape)});
}

void index_select(Maker& m, std::string_view op) {
  const Value x = m.numbers();
  const Value indices = m.input("index", m.random.pick({DType::kI32, DType::kI64}), {m.size()});
  m.graph.emit(op, IndexSelect{m.random.chance(0.6) ? 0 : m.axis(x)}, {x, indices});
}

void embedding(Maker& m, std::string_view op) {
  const Value ids = m.input("index", m.random.pick({DType::kI32, DType::kI64}), m.shape(int(m.random.between(1, 2))));
  m.graph.emit(op, Embedding{m.float_type()}, {ids, m.weight(m.fixed_size(), m.fixed_size())});
}

// ---------------------------------------------------------------------------------------------------------------- products

void matmul(Maker& m, std::string_view op) {
  const Value a = m.floats(1);
  Shape shape{a.shape()[-1], m.size()};
  if (m.random.chance(0.1)) shape = {a.shape()[-1]};
  else if (a.shape().rank() > 2 && m.random.chance(0.6)) shape = {m.random.chance(0.3) ? Dim(1) : a.shape()[-3], a.shape()[-1], m.size()};
  Value b = m.leaf(a.dtype(), shape);
  if (shape.rank() > 1 && m.random.chance(0.3)) b = m.like(b);
  m.graph.emit(op, {a, b});
}

void linear(Maker& m, std::string_view op) {
  const Value x = m.floats(1);
  const Dim out = m.fixed_size();
  std::vector<Value> operands{x, m.weight(out, x.shape()[-1])};
  if (!is_float(operands[1].dtype()) && !is_block(operands[1].dtype())) invalid("no weight");
  if (m.random.chance(0.4)) operands.push_back(m.parameter(m.float_type(), {out}));
  m.graph.emit(op, operands);
}

// (batch, channels, height, width), or without a height.
Value image(Maker& m, int axes, int64_t channels) {
  Shape shape{m.random.chance(0.5) ? m.size() : Dim(m.random.between(1, 2)), channels};
  for (int i = 0; i < axes; ++i) shape.push_back(m.random.between(3, 9));
  return m.leaf(m.float_type(), shape);
}

void conv(Maker& m, std::string_view op) {
  const int axes = op == "conv1d" ? 1 : 2;
  const int64_t groups = m.random.between(1, 2), in = groups * m.random.between(1, 3), out = groups * m.random.between(1, 3);
  Shape weight{out, in / groups};
  for (int i = 0; i < axes; ++i) weight.push_back(m.random.between(1, 3));
  std::vector<Value> operands{image(m, axes, in), m.parameter(m.float_type(), weight)};
  if (m.random.chance(0.5)) operands.push_back(m.parameter(m.float_type(), {out}));
  m.graph.emit(
      op,
      Conv{.stride = {m.random.between(1, 2)}, .padding = {m.random.between(0, 2)}, .dilation = {m.random.between(1, 2)}, .groups = groups},
      operands);
}

void max_pool(Maker& m, std::string_view op) {
  const int64_t kernel = m.random.between(1, 3);
  m.graph.emit(op, MaxPool{.kernel_size = {kernel}, .stride = {m.random.between(1, 2)}, .padding = {m.random.between(0, kernel / 2)}},
               {image(m, op == "max_pool1d" ? 1 : 2, 2)});
}

void avg_pool(Maker& m, std::string_view op) {
  const int64_t kernel = m.random.between(1, 3);
  m.graph.emit(op,
               AvgPool{.kernel_size = {kernel},
                       .stride = {m.random.between(1, 2)},
                       .padding = {m.random.between(0, kernel / 2)},
                       .count_include_pad = m.random.chance(0.5)},
               {image(m, op == "avg_pool1d" ? 1 : 2, 2)});
}

void attention(Maker& m, std::string_view op) {
  const int64_t kv_heads = m.random.between(1, 2), heads = kv_heads * m.random.between(1, 3), width = m.random.pick({2, 4, 8, 16});
  const DType dtype = m.float_type();
  const Dim queries = m.size(), keys = m.random.chance(0.6) ? queries : m.size();
  std::vector<Value> operands{m.leaf(dtype, {heads, queries, width}), m.leaf(dtype, {kv_heads, keys, width}),
                              m.leaf(dtype, {kv_heads, keys, width})};
  if (m.random.chance(0.4))
    operands.push_back(m.random.chance(0.5) ? m.input("x", DType::kBool, {queries, keys}) : m.input("mask", dtype, {queries, keys}));
  m.graph.emit(op, ScaledDotProduct{.scale = m.random.pick({0.0f, 0.25f}), .causal = m.random.chance(0.4)}, operands);
}

void rope(Maker& m, std::string_view op) {
  const int64_t half = m.random.pick({1, 2, 4, 8}), head_dim = half * 2 + m.random.pick({0, 0, 2, 3}), heads = m.random.between(1, 3);
  const Dim tokens = m.size();
  const Value x = m.leaf(m.float_type(), {tokens, heads * head_dim});
  const Value table = m.graph.emit("rope_table", {m.input("index", DType::kI32, {tokens}), m.parameter(DType::kF32, {half})});
  m.graph.emit(op, Rope{.head_dim = head_dim, .interleaved = m.random.chance(0.5)}, {x, table});
}

constexpr OpLine kOps[] = {
    {"add", binary},
    {"sub", binary},
    {"mul", binary},
    {"div", quotient},
    {"pow", power},
    {"maximum", binary, Rounding::kNone},
    {"minimum", binary, Rounding::kNone},
    {"remainder", quotient},
    {"eq", binary, Rounding::kNone},
    {"ne", binary, Rounding::kNone},
    {"lt", binary, Rounding::kNone},
    {"le", binary, Rounding::kNone},
    {"gt", binary, Rounding::kNone},
    {"ge", binary, Rounding::kNone},
    {"logical_and", binary, Rounding::kNone},
    {"logical_or", binary, Rounding::kNone},
    {"logical_xor", binary, Rounding::kNone},
    {"sign", unary, Rounding::kNone},
    {"floor", unary, Rounding::kNone},
    {"ceil", unary, Rounding::kNone},
    {"round", unary, Rounding::kNone},
    {"neg", unary, Rounding::kNone},
    {"abs", unary, Rounding::kNone},
    {"relu", unary, Rounding::kNone},
    {"square", unary},
    {"exp", of_moderate},
    {"log", of_positive, Rounding::kApproximate},
    {"sqrt", of_positive},
    {"rsqrt", of_positive},
    {"tanh", unary},
    {"sigmoid", unary},
    {"silu", unary},
    {"erf", unary, Rounding::kApproximate},
    {"sin", unary, Rounding::kApproximate},
    {"cos", unary, Rounding::kApproximate},
    {"gelu", gelu, Rounding::kApproximate},
    {"cast", cast, Rounding::kNone},
    {"quantize", quantize},
    {"dequantize", dequantize},
    {"where", where, Rounding::kNone},
    {"gated", gated, Rounding::kApproximate},
    {"softmax", softmax},
    {"log_softmax", softmax, Rounding::kApproximate},
    {"sum", reduction},
    {"prod", reduction},
    {"mean", reduction},
    {"max", reduction, Rounding::kNone},
    {"min", reduction, Rounding::kNone},
    {"argmax", reduction, Rounding::kNone},
    {"cumsum", cumsum},
    {"rms_norm", rms_norm},
    {"add_rms_norm", rms_norm},
    {"layer_norm", layer_norm},
    {"add_layer_norm", layer_norm},
    {"group_norm", group_norm},
    {"topk", topk, Rounding::kNone},
    {"view", view, Rounding::kNone},
    {"permute", permute, Rounding::kNone},
    {"slice", slice, Rounding::kNone},
    {"expand", expand, Rounding::kNone},
    {"concat", concat, Rounding::kNone},
    {"pad", pad, Rounding::kNone},
    {"arange", arange, Rounding::kNone},
    {"gather", gather, Rounding::kNone},
    {"index_select", index_select, Rounding::kNone},
    {"embedding", embedding, Rounding::kNone},
    {"matmul", matmul},
    {"linear", linear},
    {"conv1d", conv},
    {"conv2d", conv},
    {"max_pool1d", max_pool, Rounding::kNone},
    {"max_pool2d", max_pool, Rounding::kNone},
    {"avg_pool1d", avg_pool},
    {"avg_pool2d", avg_pool},
    {"scaled_dot_product_attention", attention},
    {"rope", rope},  // and its table
};

const OpLine* line_of(const Node& node) {
  const auto* found = std::find_if(std::begin(kOps), std::end(kOps), [&](const OpLine& line) { return line.op == node.op().name; });
  return found == std::end(kOps) ? nullptr : found;
}

}  // namespace

std::span<const OpLine> op_table() { return kOps; }

bool passes_values_on(const Node& node) {
  const OpLine* line = line_of(node);
  if (!line || line->rounding != Rounding::kNone) return false;
  const bool narrows = is_float(node.output().dtype()) && node.output().dtype() != DType::kF32;
  return !narrows || (line->op != "cast" && line->op != "embedding");
}

bool is_approximate(const Node& node) {
  const OpLine* line = line_of(node);
  return line && line->rounding == Rounding::kApproximate;
}

}  // namespace headrace::fuzzing
