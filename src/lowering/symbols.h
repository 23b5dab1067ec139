// Values for the symbols of shapes.
#pragma once

#include "headrace/graph.h"

namespace headrace {

// Sizes to try a program with before the real ones are known: symbols get distinct numbers above 1, so that nothing collapses.
SymbolValues sample_symbols(const Graph& graph);

// Throws Error(kNotFound) when a symbol has no value.
Sizes evaluate(const Shape& shape, const SymbolValues& symbols);

// Finds the one unknown symbol of `dim` from its size, or checks the size. `what` names the tensor in the error.
void unify(const std::string& what, const Dim& dim, int64_t size, SymbolValues& symbols);

}  // namespace headrace
