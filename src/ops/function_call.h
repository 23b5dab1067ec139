// What functions of headrace/functional.h have in common: nodes from operands that may be numbers, and errors that read as those of ops.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "headrace/functional.h"

namespace headrace {

// A number as a constant without axes.
Value number_constant(Graph& graph, std::string_view op, const Operand& number, DType dtype);

// Adds a node of the graph that the operands are of, at the line of the first.
std::vector<Value> emit_all(std::string_view op, Attributes attributes, std::vector<Operand> operands);
inline Value emit(std::string_view op, Attributes attributes, std::vector<Operand> operands) {
  return emit_all(op, std::move(attributes), std::move(operands))[0];
}
inline Value emit(std::string_view op, std::vector<Operand> operands) { return emit(op, Attributes(), std::move(operands)); }

// What a function of one tensor asks of it before it adds nodes; its errors read as those of ops.
struct FunctionCall {
  std::string_view function;
  const Operand& x;

  template <typename... Args>
  [[noreturn]] void reject(fmt::format_string<Args...> format, Args&&... args) const {
    invalid("{}({}): {}{}", function, x.value ? x.value.type().to_string() : "", fmt::format(format, std::forward<Args>(args)...),
            at_place(x.where));
  }
  const Shape& shape() const {
    if (!x.value) reject("x is {}, a Value of a graph is wanted", x.number.index() ? "a number" : "an empty Value");
    return x.value.shape();
  }
  int rank() const { return shape().rank(); }
  // `axis`, counted from the front, of a tensor with as many axes as x, and `more`.
  int axis(int64_t axis, int more = 0) const {
    const int64_t rank = this->rank() + more, at = axis < 0 ? axis + rank : axis;
    if (at < 0 || at >= rank) reject("axis {} of a tensor with {} axes", axis, rank);
    return int(at);
  }
  int64_t number(const Dim& size, const char* what) const {
    if (!size.is_constant()) reject("{} is wanted as a number, not as '{}'", what, size.to_string());
    return size.value();
  }
  // `shape` with its -1, if it has one, made what is left of `numel`.
  Shape completed(Shape shape, const Dim& numel) const {
    Dim known = 1;
    int unknown = -1;
    for (int i = 0; i < shape.rank(); ++i) {
      if (shape[i] != Dim(-1)) known = known * shape[i];
      else if (unknown >= 0) reject("the shape {} has more than one -1", shape.to_string());
      else unknown = i;
    }
    if (unknown < 0) return shape;
    const std::optional<Dim> rest = known == Dim(0) ? std::nullopt : numel.divided_by(known);
    if (!rest) reject("{} elements cannot be seen as {}", numel.to_string(), shape.to_string());
    shape[unknown] = *rest;
    return shape;
  }
};

}  // namespace headrace
