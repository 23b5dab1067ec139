// Arithmetic that is cheaper in other words, and no less exact.
#include "compiler/recognize/recognize.h"
#include "compiler/recognize/spellings.h"

namespace headrace {
namespace {

Rule replaced_by(std::string name, Pattern pattern, std::string op) {
  return {std::move(name), std::move(pattern), [op = std::move(op)](Graph& graph, const Match& m) {
            return m["x"].type() == m.root().type() ? std::vector{graph.emit(op, {m["x"]})} : std::vector<Value>();
          }};
}
Rule is_x(std::string name, Pattern pattern) {
  return {std::move(name), std::move(pattern),
          [](Graph&, const Match& m) { return m["x"].type() == m.root().type() ? std::vector{m["x"]} : std::vector<Value>(); }};
}

}  // namespace

std::vector<Rule> arithmetic_rules() {
  const Pattern x = any("x").where_value("floats", [](Value v) { return is_float(v.dtype()); });
  return {
      replaced_by("pow-2", op("pow", {x, number(2)}), "square"),
      replaced_by("pow-half", op("pow", {x, number(0.5)}), "sqrt"),
      replaced_by("pow-minus-half", op("pow", {x, number(-0.5)}), "rsqrt"),
      is_x("pow-1", op("pow", {x, number(1)})),
      replaced_by("product-with-itself", op("mul", {x, x}), "square"),
      is_x("times-1", op("mul", {x, number(1)})),
      is_x("divided-by-1", op("div", {x, number(1)})),
  };
}

}  // namespace headrace
