// What layers ask of their operand, and how their errors name them.
#pragma once

#include <cctype>
#include <type_traits>

#include "core/error.h"
#include "headrace/nn.h"

namespace headrace::nn {

// The result of `body`, whose errors get the layer's path in front. A Value that has no name is named after the layer.
template <typename Body>
auto in_layer(const Scope& at, Body body) {
  try {
    if constexpr (std::is_same_v<decltype(body()), Value>) {
      const Value result = body();
      return std::isdigit(static_cast<unsigned char>(result.name()[0])) ? named(at, result) : result;
    } else {
      return body();
    }
  } catch (const Error& e) {
    if (at.path().empty()) throw;
    fail(e.code, "{}: {}", at.path(), e.what());
  }
}

inline Graph& graph_of(const Operand& x) {
  if (!x.value) invalid("a Value of a graph is wanted, found {}{}", x.number.index() ? "a number" : "an empty Value", at_place(x.where));
  return x.value.graph();
}

// The size of x's last axis.
inline Dim width(const Operand& x) {
  graph_of(x);
  if (x.value.shape().rank() == 0) invalid("{} has no axes, a last one is wanted{}", x.value.type().to_string(), at_place(x.where));
  return x.value.shape()[-1];
}

// The same of a size that must be a number.
inline int64_t features(const Operand& x) {
  const Dim size = width(x);
  if (!size.is_constant()) invalid("{}: the last size is wanted as a number{}", x.value.type().to_string(), at_place(x.where));
  return size.value();
}

}  // namespace headrace::nn
