#include "lowering/symbols.h"

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
  for (const Dim& d : shape.dims()) sizes.push_back(d.is_constant() ? d.value() : d.evaluate(symbols));
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
    const int64_t b = at(0), a = at(1) - b;
    if (a != 0 && (size - b) % a == 0 && at((size - b) / a) == size && (size - b) / a >= 0) {
      symbols[unknown[0]] = (size - b) / a;
      return;
    }
  } else if (unknown.empty() && dim.evaluate(symbols) == size) {
    return;
  }
  invalid("{}: a size is {}, {} is wanted{}", what, size, dim.to_string(),
          unknown.empty() && !names.empty() ? fmt::format(" (= {}, by other inputs)", dim.evaluate(symbols)) : "");
}

}  // namespace headrace
