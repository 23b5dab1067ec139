// Functions from Values to Values, with PyTorch's names and meaning. Each adds one node to its operands' graph; a wrong shape or
// type throws Error(kInvalidArgument) that names the op and its operands. Shapes are documented with each op in src/ops.
#pragma once

#include <vector>

#include "headrace/graph.h"

namespace headrace {

// The ops that Headrace knows, for new graphs and for graphs read from text:
//   Graph graph(builtin_ops());        Graph back = Graph::parse(graph.to_text(), builtin_ops());
// Made on first use and never changed.
std::shared_ptr<const OpRegistry> builtin_ops();
// Adds the same to a registry of your own, beside ops of your own: those run as their reference does. Graphs of such a registry can be run
// (Session), but not be written to engines, whose reader knows only the built-in ones.
void register_ops(OpRegistry& registry);

Value add(Value x, Value y);
Value sub(Value x, Value y);
Value mul(Value x, Value y);
Value div(Value x, Value y);
inline Value operator+(Value x, Value y) { return add(x, y); }
inline Value operator-(Value x, Value y) { return sub(x, y); }
inline Value operator*(Value x, Value y) { return mul(x, y); }
inline Value operator/(Value x, Value y) { return div(x, y); }
// With a number on the right: a constant of x's type.
Value operator+(Value x, double y);
Value operator*(Value x, double y);

Value relu(Value x);
Value silu(Value x);
Value tanh(Value x);
Value sigmoid(Value x);
enum class GeluApproximation { kNone, kTanh };
Value gelu(Value x, GeluApproximation approximation = GeluApproximation::kNone);

Value matmul(Value a, Value b);
Value linear(Value x, Value weight);              // x (..., in), weight (out, in)
Value linear(Value x, Value weight, Value bias);  // bias (out)
Value softmax(Value x, int64_t dim);
Value rms_norm(Value x, Value weight, float eps);
Value layer_norm(Value x, Value weight, Value bias, float eps);  // bias may be empty
Value mean(Value x, std::vector<int64_t> dim, bool keepdim = false);

Value cast(Value x, DType dtype);
Value view(Value x, Shape shape);  // one size may be -1
Value permute(Value x, std::vector<int64_t> dims);
Value slice(Value x, int64_t dim, int64_t begin, int64_t end);
std::vector<Value> split(Value x, const std::vector<int64_t>& sizes, int64_t dim);
Value concat(std::vector<Value> values, int64_t dim);
Value index_select(Value x, int64_t dim, Value indices);
Value embedding(Value ids, Value table);

}  // namespace headrace
