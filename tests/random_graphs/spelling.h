// Plain ops in one of the ways in which authors write them.
#pragma once

#include "headrace/functional.h"
#include "ops/cast/cast.h"
#include "ops/reduce/reduce.h"
#include "ops/views/views.h"
#include "random_graphs/op_table.h"

namespace headrace::fuzzing {

// Calls one of them.
template <typename... Choices>
Value any_of(Maker& m, const Choices&... choices) {
  const std::function<Value()> list[] = {choices...};
  return list[m.random.below(sizeof...(Choices))]();
}

inline Value plus(Maker& m, Value x, Value y) { return m.random.chance(0.5) ? add(x, y) : add(y, x); }
inline Value times(Maker& m, Value x, Value y) { return m.random.chance(0.5) ? mul(x, y) : mul(y, x); }
inline Value apply(Maker& m, const char* op, Value x) { return m.graph.emit(op, {x}); }
inline Value numbered(Maker& m, Value x, double value) { return m.number(value, x.dtype()); }

inline Value power_of(Maker& m, Value x, double exponent) { return m.graph.emit("pow", {x, numbered(m, x, exponent)}); }
inline Value squared(Maker& m, Value x) {
  return any_of(
      m, [&] { return power_of(m, x, 2); }, [&] { return apply(m, "square", x); }, [&] { return mul(x, x); });
}
inline Value one_over_root(Maker& m, Value x) {
  return any_of(
      m, [&] { return apply(m, "rsqrt", x); }, [&] { return div(numbered(m, x, 1), apply(m, "sqrt", x)); },
      [&] { return power_of(m, x, -0.5); });
}
inline Value reduced(Maker& m, const char* op, Value x) {
  const int64_t last = m.random.chance(0.7) ? -1 : x.shape().rank() - 1;
  return m.graph.emit(op, Reduce{.axes = {last}, .keepdim = true}, {x});
}
// Over the last axis, which stays.
inline Value mean_of(Maker& m, Value x) {
  if (x.shape()[-1].is_constant() && m.random.chance(0.2)) {
    const double size = double(x.shape()[-1].value());
    const Value sum = reduced(m, "sum", x);
    return m.random.chance(0.5) ? div(sum, numbered(m, sum, size)) : times(m, sum, numbered(m, sum, 1 / size));
  }
  return reduced(m, "mean", x);
}
inline Value as_type(Value x, DType dtype) { return x.dtype() == dtype ? x : cast(x, dtype); }
inline Value with_axes_swapped(Value x, int a, int b) {
  std::vector<int64_t> axes;
  for (int i = 0; i < x.shape().rank(); ++i) axes.push_back(i);
  std::swap(axes[size_t(a)], axes[size_t(b)]);
  return permute(x, axes);
}

}  // namespace headrace::fuzzing
