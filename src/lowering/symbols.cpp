#include "lowering/symbols.h"

#include <algorithm>
#include <cstdlib>

#include "core/error.h"

namespace headrace {

SymbolValues sample_symbols(const Graph& graph) {
  std::vector<std::string> names;
  for (Leaf kind : {Leaf::kInput, Leaf::kState})
    for (const Value& v : graph.leaves(kind))
      for (const Dim& d : v.shape().dims()) d.collect_symbols(names);
  SymbolValues values;
  int64_t next = 7;
  for (const std::string& name : names) values[name] = next, next += 2;
  return values;
}

Sizes evaluate(const Shape& shape, const SymbolValues& symbols) {
  Sizes sizes;
  int64_t elements = 1;  // as if no size were 0
  for (const Dim& d : shape.dims()) {
    const int64_t size = d.is_constant() ? d.value() : d.evaluate(symbols);
    if (size == INT64_MIN || __builtin_mul_overflow(elements, std::max<int64_t>(std::abs(size), 1), &elements))
      invalid("a tensor {} has more elements than can be counted", shape.to_string());
    sizes.push_back(size);
  }
  return sizes;
}

void unify(const std::string& what, const Dim& dim, int64_t size, SymbolValues& symbols) {
  std::vector<std::string> names, unknown;
  dim.collect_symbols(names);
  for (const std::string& n : names)
    if (!symbols.count(n)) unknown.push_back(n);
  if (unknown.size() == 1) {  // dim = a * symbol + b: two samples give a and b
    SymbolValues trial = symbols;
    const auto at = [&](int64_t v) {
      trial[unknown[0]] = v;
      return dim.evaluate(trial);
    };
    const int64_t b = at(0);
    int64_t a = 0, rest = 0;
    const bool counted = !__builtin_sub_overflow(at(1), b, &a) && !__builtin_sub_overflow(size, b, &rest) && rest != INT64_MIN;
    if (counted && a != 0 && rest % a == 0 && rest / a >= 0 && at(rest / a) == size) {
      symbols[unknown[0]] = rest / a;
      return;
    }
  } else if (unknown.empty() && dim.evaluate(symbols) == size) {
    return;
  }
  invalid("{}: a size is {}, {} is wanted{}", what, size, dim.to_string(),
          unknown.empty() && !names.empty() ? fmt::format(" (= {}, by other inputs)", dim.evaluate(symbols)) : "");
}

}  // namespace headrace
