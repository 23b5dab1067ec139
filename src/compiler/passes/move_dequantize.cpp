#include "compiler/passes/passes.h"
#include "compiler/recognize/recognize.h"

namespace headrace {

void move_dequantize(Graph& graph, const CompileOptions&) { apply_rules(graph, dequantize_rules()); }

}  // namespace headrace
