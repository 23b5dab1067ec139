#include "compiler/passes/match.h"
#include "compiler/passes/passes.h"

namespace headrace {

void fuse_add_norm(Graph& graph, const CompileOptions&) {
  for (Node* norm : graph.nodes()) {
    const bool rms = is_op(norm, "rms_norm");
    if (!rms && !(is_op(norm, "layer_norm") && norm->inputs().size() >= 2)) continue;
    const Value sum = norm->input(0);
    Node* add = producer_if(sum, "add");
    // The sum may have other readers and may be an output: it is a result of the fused op too.
    if (!add || add->input(0).type() != sum.type() || add->input(1).type() != sum.type()) continue;
    // The fused op stands where the sum stood, so whatever else the norm reads must be there already.
    bool early = true;
    for (size_t i = 1; i < norm->inputs().size(); ++i) early = early && norm->input(int(i)).is_known_at_load();
    if (!early) continue;
    std::vector<Value> operands{add->input(0), add->input(1)};
    operands.insert(operands.end(), norm->inputs().begin() + 1, norm->inputs().end());
    graph.insert_before(add);
    const std::vector<Value> fused = graph.emit_all(rms ? "add_rms_norm" : "add_layer_norm", norm->attributes(), std::move(operands));
    graph.insert_before(nullptr);
    graph.replace_all_uses(sum, fused[0]);
    graph.replace_all_uses(norm->output(), fused[1]);
    graph.erase(*norm);
    graph.erase(*add);
  }
}

}  // namespace headrace
