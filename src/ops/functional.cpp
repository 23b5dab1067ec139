#include "headrace/functional.h"

#include <algorithm>
#include <utility>

#include "ops/arange/arange.h"
#include "ops/attention/attention.h"
#include "ops/cast/cast.h"
#include "ops/collectives/collectives.h"
#include "ops/concat/concat.h"
#include "ops/embedding/embedding.h"
#include "ops/function_call.h"
#include "ops/index_select/index_select.h"
#include "ops/layer_norm/layer_norm.h"
#include "ops/linear/linear.h"
#include "ops/reduce/reduce.h"
#include "ops/rms_norm/rms_norm.h"
#include "ops/rope/rope.h"
#include "ops/softmax/softmax.h"
#include "ops/unary/unary.h"
#include "ops/views/views.h"

namespace headrace {

// ---------------------------------------------------------------------------------------------------------------- arithmetic

Value add(Operand x, Operand y) { return emit("add", {x, y}); }
Value sub(Operand x, Operand y) { return emit("sub", {x, y}); }
Value mul(Operand x, Operand y) { return emit("mul", {x, y}); }
Value div(Operand x, Operand y) { return emit("div", {x, y}); }
Value pow(Operand x, Operand exponent) { return emit("pow", {x, exponent}); }
Value maximum(Operand x, Operand y) { return emit("maximum", {x, y}); }
Value minimum(Operand x, Operand y) { return emit("minimum", {x, y}); }
Value where(Operand condition, Operand x, Operand y) { return emit("where", {condition, x, y}); }

Value neg(Operand x) { return emit("neg", {x}); }
Value abs(Operand x) { return emit("abs", {x}); }
Value square(Operand x) { return emit("square", {x}); }
Value exp(Operand x) { return emit("exp", {x}); }
Value log(Operand x) { return emit("log", {x}); }
Value sqrt(Operand x) { return emit("sqrt", {x}); }
Value rsqrt(Operand x) { return emit("rsqrt", {x}); }
Value erf(Operand x) { return emit("erf", {x}); }
Value sin(Operand x) { return emit("sin", {x}); }
Value cos(Operand x) { return emit("cos", {x}); }
Value tanh(Operand x) { return emit("tanh", {x}); }
Value sigmoid(Operand x) { return emit("sigmoid", {x}); }
Value relu(Operand x) { return emit("relu", {x}); }
Value silu(Operand x) { return emit("silu", {x}); }
Value gelu(Operand x, GeluApproximation approximation) {
  return emit("gelu", Gelu{.tanh = approximation == GeluApproximation::kTanh}, {x});
}

Value cast(Operand x, DType dtype) { return emit("cast", Cast{.dtype = dtype}, {x}); }

// ---------------------------------------------------------------------------------------------------------------- along axes

Value sum(Operand x, Axes dim, bool keepdim) { return emit("sum", Reduce{.axes = dim.list, .keepdim = keepdim}, {x}); }
Value mean(Operand x, Axes dim, bool keepdim) { return emit("mean", Reduce{.axes = dim.list, .keepdim = keepdim}, {x}); }
Value max(Operand x, Axes dim, bool keepdim) { return emit("max", Reduce{.axes = dim.list, .keepdim = keepdim}, {x}); }
Value min(Operand x, Axes dim, bool keepdim) { return emit("min", Reduce{.axes = dim.list, .keepdim = keepdim}, {x}); }
Value argmax(Operand x, std::optional<int64_t> dim, bool keepdim) {
  return emit("argmax", Reduce{.axes = dim ? std::vector{*dim} : std::vector<int64_t>(), .keepdim = keepdim}, {x});
}
Value cumsum(Operand x, int64_t dim) { return emit("cumsum", CumSum{.axis = dim}, {x}); }
Value softmax(Operand x, int64_t dim) { return emit("softmax", Softmax{.axis = dim}, {x}); }

Value rms_norm(Operand x, Operand weight, float eps) { return emit("rms_norm", RmsNorm{.eps = eps}, {x, weight}); }
Value layer_norm(Operand x, Operand weight, Operand bias, float eps) {
  std::vector<Operand> operands{x};
  if (weight.value || bias.value) operands.push_back(weight);
  if (bias.value) operands.push_back(bias);
  return emit("layer_norm", LayerNorm{.eps = eps}, std::move(operands));
}

// ---------------------------------------------------------------------------------------------------------------- products

Value matmul(Operand a, Operand b) { return emit("matmul", {a, b}); }
Value linear(Operand x, Operand weight, Operand bias, Parallel parallel) {
  return emit("linear", Linear{.parallel = parallel}, bias.value ? std::vector<Operand>{x, weight, bias} : std::vector<Operand>{x, weight});
}

// ---------------------------------------------------------------------------------------------------------------- arrangement

Value reshape(Operand x, Shape shape) {
  const FunctionCall call{"reshape", x};
  return emit("view", View{.shape = call.completed(std::move(shape), call.shape().numel())}, {x});
}

Value flatten(Operand x, int64_t start_dim, int64_t end_dim) {
  const FunctionCall call{"flatten", x};
  if (call.rank() == 0) return emit("view", View{.shape = {1}}, {x});
  const int first = call.axis(start_dim), last = call.axis(end_dim);
  if (first > last) call.reject("axis {} comes after axis {}", start_dim, end_dim);
  Shape shape;
  for (int i = 0; i < call.rank(); ++i) {
    if (i <= first || i > last) shape.push_back(call.shape()[i]);
    else shape[first] = shape[first] * call.shape()[i];
  }
  return emit("view", View{.shape = std::move(shape)}, {x});
}

Value unflatten(Operand x, int64_t dim, Shape sizes) {
  const FunctionCall call{"unflatten", x};
  const int axis = call.axis(dim);
  sizes = call.completed(std::move(sizes), call.shape()[axis]);
  if (sizes.numel() != call.shape()[axis])
    call.reject("axis {} has {} elements, the sizes {} have {}", dim, call.shape()[axis].to_string(), sizes.to_string(),
                sizes.numel().to_string());
  Shape shape;
  for (int i = 0; i < call.rank(); ++i) {
    if (i != axis) shape.push_back(call.shape()[i]);
    else
      for (const Dim& size : sizes.dims()) shape.push_back(size);
  }
  return emit("view", View{.shape = std::move(shape)}, {x});
}

Value permute(Operand x, std::vector<int64_t> dims) { return emit("permute", Permute{.axes = std::move(dims)}, {x}); }

Value transpose(Operand x, int64_t dim0, int64_t dim1) {
  const FunctionCall call{"transpose", x};
  std::vector<int64_t> axes;
  for (int i = 0; i < call.rank(); ++i) axes.push_back(i);
  std::swap(axes[size_t(call.axis(dim0))], axes[size_t(call.axis(dim1))]);
  return permute(x, std::move(axes));
}

Value squeeze(Operand x, Axes dim) {
  const FunctionCall call{"squeeze", x};
  std::vector<bool> chosen(size_t(call.rank()), dim.list.empty());
  for (int64_t axis : dim.list) chosen[size_t(call.axis(axis))] = true;
  Shape shape;
  for (int i = 0; i < call.rank(); ++i)
    if (!chosen[size_t(i)] || call.shape()[i] != Dim(1)) shape.push_back(call.shape()[i]);
  return emit("view", View{.shape = std::move(shape)}, {x});
}

Value unsqueeze(Operand x, int64_t dim) {
  const FunctionCall call{"unsqueeze", x};
  std::vector<Dim> dims = call.shape().dims();
  dims.insert(dims.begin() + call.axis(dim, 1), Dim(1));
  return emit("view", View{.shape = Shape(std::move(dims))}, {x});
}

Value expand(Operand x, Shape shape) {
  const FunctionCall call{"expand", x};
  for (int i = 1; i <= shape.rank(); ++i)
    if (shape[-i] == Dim(-1)) {
      if (i > call.rank()) call.reject("a new axis of {} is -1: its size is wanted", shape.to_string());
      shape[-i] = call.shape()[-i];
    }
  return emit("expand", Expand{.shape = std::move(shape)}, {x});
}

Value repeat_interleave(Operand x, int64_t repeats, int64_t dim) {
  const FunctionCall call{"repeat_interleave", x};
  if (repeats < 0) call.reject("{} repeats: 0 or more are wanted", repeats);
  const int axis = call.axis(dim);
  std::vector<Dim> wide = call.shape().dims(), flat = wide;
  wide.insert(wide.begin() + axis + 1, Dim(repeats));
  flat[size_t(axis)] = flat[size_t(axis)] * Dim(repeats);
  return reshape({expand({unsqueeze(x, axis + 1), x.where}, Shape(std::move(wide))), x.where}, Shape(std::move(flat)));
}

Value slice(Operand x, int64_t dim, int64_t begin, int64_t end, int64_t step) {
  return emit("slice", Slice{.axis = dim, .begin = begin, .end = end, .step = step}, {x});
}

Value narrow(Operand x, int64_t dim, int64_t start, int64_t length) {
  const FunctionCall call{"narrow", x};
  const Dim size = call.shape()[call.axis(dim)];
  if (size.is_constant() && start < 0) start += size.value();
  if (start < 0 || length < 0 || (size.is_constant() && (start > size.value() || length > size.value() - start)))
    call.reject("{} elements from {} on, axis {} has {}", length, start, dim, size.to_string());
  return slice(x, dim, start, start + length);
}

Value select(Operand x, int64_t dim, int64_t index) {
  const FunctionCall call{"select", x};
  const int axis = call.axis(dim);
  if (const Dim size = call.shape()[axis]; size.is_constant() && (index >= size.value() || index < -size.value()))
    call.reject("element {}, axis {} has {}", index, dim, size.to_string());
  const int64_t end = index == -1 ? std::numeric_limits<int64_t>::max() : index + 1;
  return squeeze({slice(x, axis, index, end), x.where}, axis);
}

std::vector<Value> split(Operand x, const std::vector<int64_t>& sizes, int64_t dim) {
  const FunctionCall call{"split", x};
  const Dim size = call.shape()[call.axis(dim)];
  int64_t sum = 0;
  for (int64_t s : sizes) sum += s;
  if (size != Dim(sum) || std::any_of(sizes.begin(), sizes.end(), [](int64_t s) { return s < 0; }))
    call.reject("the sizes {} add up to {}, axis {} has {}", Sizes(sizes).to_string(), sum, dim, size.to_string());
  std::vector<Value> parts;
  int64_t begin = 0;
  for (int64_t s : sizes) parts.push_back(slice(x, dim, begin, begin + s)), begin += s;
  return parts;
}

std::vector<Value> chunk(Operand x, int64_t chunks, int64_t dim) {
  const FunctionCall call{"chunk", x};
  const int64_t size = call.number(call.shape()[call.axis(dim)], "the axis' size");
  if (chunks < 1) call.reject("{} chunks: 1 or more are wanted", chunks);
  const int64_t most = std::max<int64_t>(1, size / chunks + (size % chunks != 0));
  std::vector<Value> parts;
  for (int64_t begin = 0; begin < size || parts.empty(); begin += most) parts.push_back(slice(x, dim, begin, std::min(begin + most, size)));
  return parts;
}

Value concat(std::vector<Value> values, int64_t dim, std::source_location where) {
  if (values.empty()) invalid("concat: there is nothing to put together{}", at_place(where));
  std::vector<Operand> operands;
  for (const Value& v : values) operands.push_back({v, where});
  return emit("concat", Concat{.axis = dim}, std::move(operands));
}

Value stack(std::vector<Value> values, int64_t dim, std::source_location where) {
  if (values.empty()) invalid("stack: there is nothing to put together{}", at_place(where));
  const Operand first(values[0], where);
  const int axis = FunctionCall{"stack", first}.axis(dim, 1);
  for (Value& v : values) v = unsqueeze({v, where}, axis);
  return concat(std::move(values), axis, where);
}

Value index_select(Operand x, int64_t dim, Operand indices) { return emit("index_select", IndexSelect{.axis = dim}, {x, indices}); }
Value embedding(Operand ids, Operand weight) { return emit("embedding", Embedding{}, {ids, weight}); }

// ---------------------------------------------------------------------------------------------------------------- made from nothing

Value full(Graph& graph, Shape shape, double value, DType dtype, std::source_location where) {
  if (is_block(dtype)) invalid("full: a tensor of one number is wanted of a plain type, not {}{}", name(dtype), at_place(where));
  const Value number = number_constant(graph, "full", {value, where}, dtype);
  return shape.rank() == 0 ? number : expand({number, where}, std::move(shape));
}
Value zeros(Graph& graph, Shape shape, DType dtype, std::source_location where) { return full(graph, std::move(shape), 0, dtype, where); }
Value ones(Graph& graph, Shape shape, DType dtype, std::source_location where) { return full(graph, std::move(shape), 1, dtype, where); }
Value arange(Graph& graph, Dim end, std::source_location where) {
  return graph.emit("arange", Arange{.shape = {std::move(end)}}, {}, where);
}

// ---------------------------------------------------------------------------------------------------------------- attention

Value rope_table(Operand positions, Operand inverse_frequencies, float scale) {
  return emit("rope_table", RopeTable{.scale = scale}, {positions, inverse_frequencies});
}
Value rope(Operand x, Operand table, int64_t head_dim, bool interleaved) {
  return emit("rope", Rope{.head_dim = head_dim, .interleaved = interleaved}, {x, table});
}

namespace {

Value attention(const std::vector<Operand>& operands, const AttentionOptions& o, bool causal) {
  return emit("attention",
              Attention{.heads = int(o.heads),
                        .kv_heads = int(o.kv_heads),
                        .head_dim = int(o.head_dim),
                        .scale = float(o.scale),
                        .causal = causal,
                        .window = int(o.window),
                        .softcap = float(o.softcap)},
              operands);
}

}  // namespace

Value causal_attention(Operand q, Operand k, Operand v, Operand sequence_offsets, const AttentionOptions& options) {
  return attention({q, k, v, sequence_offsets}, options, true);
}
Value bidirectional_attention(Operand q, Operand k, Operand v, Operand sequence_offsets, const AttentionOptions& options) {
  return attention({q, k, v, sequence_offsets}, options, false);
}

// ---------------------------------------------------------------------------------------------------------------- between ranks

Value all_reduce(Operand x, int ranks, RankReduction reduction) {
  return emit("all_reduce", AllReduce{.ranks = ranks, .reduction = reduction}, {x});
}
Value all_gather(Operand x, int ranks, int64_t dim) { return emit("all_gather", AllGather{.ranks = ranks, .axis = dim}, {x}); }
Value reduce_scatter(Operand x, int ranks, int64_t dim, RankReduction reduction) {
  return emit("reduce_scatter", ReduceScatter{.ranks = ranks, .axis = dim, .reduction = reduction}, {x});
}
Value send(Operand x, int peer) { return emit("send", Send{.peer = peer}, {x}); }
Value recv(Graph& graph, TensorType type, int peer, std::source_location where) {
  return graph.emit("recv", Recv{.peer = peer, .dtype = type.dtype, .shape = std::move(type.shape)}, {}, where);
}

}  // namespace headrace
