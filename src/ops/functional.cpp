#include "headrace/functional.h"

#include "core/dtype.h"
#include "ops/cast/cast.h"
#include "ops/concat/concat.h"
#include "ops/embedding/embedding.h"
#include "ops/index_select/index_select.h"
#include "ops/layer_norm/layer_norm.h"
#include "ops/reduce/reduce.h"
#include "ops/rms_norm/rms_norm.h"
#include "ops/softmax/softmax.h"
#include "ops/unary/unary.h"
#include "ops/views/views.h"

namespace headrace {
namespace {

Graph& graph_of(Value x) {
  if (!x) invalid("an op was given an empty Value");
  return x.graph();
}

Value number(Value like, double value) {
  HostTensor scalar(like.dtype(), Sizes{});
  dispatch(like.dtype(), [&]<typename T>() {
    if constexpr (std::is_arithmetic_v<T>) scalar.as<T>()[0] = T(value);
    else scalar.as<T>()[0] = T(float(value));
  });
  return graph_of(like).constant(std::move(scalar));
}

}  // namespace

Value add(Value x, Value y) { return graph_of(x).emit("add", {x, y}); }
Value sub(Value x, Value y) { return graph_of(x).emit("sub", {x, y}); }
Value mul(Value x, Value y) { return graph_of(x).emit("mul", {x, y}); }
Value div(Value x, Value y) { return graph_of(x).emit("div", {x, y}); }
Value operator+(Value x, double y) { return add(x, number(x, y)); }
Value operator*(Value x, double y) { return mul(x, number(x, y)); }

Value relu(Value x) { return graph_of(x).emit("relu", {x}); }
Value silu(Value x) { return graph_of(x).emit("silu", {x}); }
Value tanh(Value x) { return graph_of(x).emit("tanh", {x}); }
Value sigmoid(Value x) { return graph_of(x).emit("sigmoid", {x}); }
Value gelu(Value x, GeluApproximation approximation) {
  return graph_of(x).emit("gelu", Gelu{.tanh = approximation == GeluApproximation::kTanh}, {x});
}

Value matmul(Value a, Value b) { return graph_of(a).emit("matmul", {a, b}); }
Value linear(Value x, Value weight) { return graph_of(x).emit("linear", {x, weight}); }
Value linear(Value x, Value weight, Value bias) { return graph_of(x).emit("linear", {x, weight, bias}); }
Value softmax(Value x, int64_t dim) { return graph_of(x).emit("softmax", Softmax{.axis = dim}, {x}); }
Value rms_norm(Value x, Value weight, float eps) { return graph_of(x).emit("rms_norm", RmsNorm{.eps = eps}, {x, weight}); }
Value layer_norm(Value x, Value weight, Value bias, float eps) {
  return graph_of(x).emit("layer_norm", LayerNorm{.eps = eps}, bias ? std::vector<Value>{x, weight, bias} : std::vector<Value>{x, weight});
}
Value mean(Value x, std::vector<int64_t> dim, bool keepdim) {
  return graph_of(x).emit("mean", Reduce{.axes = std::move(dim), .keepdim = keepdim}, {x});
}

Value cast(Value x, DType dtype) { return graph_of(x).emit("cast", Cast{.dtype = dtype}, {x}); }

Value view(Value x, Shape shape) {
  Dim known = 1;
  int unknown = -1;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] != Dim(-1)) {
      known = known * shape[i];
      continue;
    }
    if (unknown >= 0) invalid("view: the shape {} has more than one -1", shape.to_string());
    unknown = i;
  }
  if (unknown >= 0) {
    const std::optional<Dim> rest = x.shape().numel().divided_by(known);
    if (!rest) invalid("view: {} cannot be seen as {}", x.type().to_string(), shape.to_string());
    shape[unknown] = *rest;
  }
  return graph_of(x).emit("view", View{.shape = std::move(shape)}, {x});
}

Value permute(Value x, std::vector<int64_t> dims) { return graph_of(x).emit("permute", Permute{.axes = std::move(dims)}, {x}); }
Value slice(Value x, int64_t dim, int64_t begin, int64_t end) {
  return graph_of(x).emit("slice", Slice{.axis = dim, .begin = begin, .end = end}, {x});
}

std::vector<Value> split(Value x, const std::vector<int64_t>& sizes, int64_t dim) {
  int64_t sum = 0;
  for (int64_t s : sizes) sum += s;
  if (const Dim& size = x.shape()[int(dim)]; !size.is_constant() || size.value() != sum)
    invalid("split: the sizes add up to {}, axis {} of {} has {}", sum, dim, x.type().to_string(), size.to_string());
  std::vector<Value> parts;
  int64_t begin = 0;
  for (int64_t s : sizes) parts.push_back(slice(x, dim, begin, begin + s)), begin += s;
  return parts;
}

Value concat(std::vector<Value> values, int64_t dim) {
  if (values.empty()) invalid("concat: there is nothing to put together");
  Graph& graph = graph_of(values[0]);
  return graph.emit("concat", Concat{.axis = dim}, std::move(values));
}
Value index_select(Value x, int64_t dim, Value indices) { return graph_of(x).emit("index_select", IndexSelect{.axis = dim}, {x, indices}); }
Value embedding(Value ids, Value table) { return graph_of(ids).emit("embedding", Embedding{}, {ids, table}); }

}  // namespace headrace
