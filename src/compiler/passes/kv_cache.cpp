#include "compiler/passes/match.h"
#include "compiler/passes/passes.h"
#include "ops/attention/attention.h"
#include "ops/paged_attention/paged_attention.h"
#include "ops/qkv_post/qkv_post.h"
#include "ops/rms_norm/rms_norm.h"
#include "ops/rope/rope.h"

namespace headrace {

// The cache of a layer is a state kv.N (num_blocks, 2, kv_heads, block_tokens, head_dim); which slot a token's key and value go
// to, and which blocks a sequence has, are inputs of the program.
void use_kv_cache(Graph& graph, const CompileOptions& options) {
  if (!options.kv_cache) return;
  const Dim tokens = Dim::symbol("tokens"), sequences = Dim::symbol("sequences");
  int layer = 0;
  for (Node* node : graph.nodes()) {
    if (!is_op(node, "attention") || !node->attributes_as<Attention>().causal) continue;
    const auto& a = node->attributes_as<Attention>();
    const Value q = node->input(0), k = node->input(1), v = node->input(2), offsets = node->input(3);
    const Value slots = graph.input("slots", {DType::kI32, {tokens}});
    const Value contexts = graph.input("context_lengths", {DType::kI32, {sequences}});
    const Value tables = graph.input("block_tables", {DType::kI32, {sequences, Dim::symbol("max_blocks")}});
    const Value kv = graph.state("kv." + std::to_string(layer++),
                                 {k.dtype(), {Dim::symbol("num_blocks"), 2, a.kv_heads, Dim::symbol("block_tokens"), a.head_dim}});
    graph.insert_before(node);
    const Value written = graph.emit("kv_write", {kv, k, v, slots});
    const Value y = graph.emit("paged_attention", a, {q, written, offsets, contexts, tables});
    graph.insert_before(nullptr);
    graph.replace_all_uses(node->output(), y);
    graph.erase(*node);
  }
}

namespace {

// rope(x, table), read by nobody else, and the per-head norm before it if there is one:
// x = view(rms_norm(view(y, (tokens, heads, head_dim)), weight), (tokens, heads * head_dim)).
struct Rotated {
  Node* rope = nullptr;
  Value x, table, norm_weight;
  float eps = QkvPost{}.eps;
  std::vector<Node*> absorbed;  // readers before producers

  static std::optional<Rotated> from(Value value, int64_t head_dim) {
    Rotated r;
    r.rope = has_one_reader(value) ? producer_if(value, "rope") : nullptr;
    if (!r.rope || r.rope->attributes_as<Rope>().head_dim != head_dim) return std::nullopt;
    r.x = r.rope->input(0), r.table = r.rope->input(1);
    r.absorbed = {r.rope};
    Node* outer = has_one_reader(r.x) ? producer_if(r.x, "view") : nullptr;
    Node* norm = outer && has_one_reader(outer->input(0)) ? producer_if(outer->input(0), "rms_norm") : nullptr;
    Node* inner = norm && has_one_reader(norm->input(0)) ? producer_if(norm->input(0), "view") : nullptr;
    if (!inner || inner->input(0).type() != r.x.type() || norm->input(1).shape() != Shape{head_dim}) return r;
    if (norm->attributes_as<RmsNorm>().weight_offset != 0) return r;
    r.x = inner->input(0), r.norm_weight = norm->input(1), r.eps = norm->attributes_as<RmsNorm>().eps;
    r.absorbed = {r.rope, outer, norm, inner};
    return r;
  }
};

}  // namespace

void fuse_qkv_post(Graph& graph, const CompileOptions&) {
  for (Node* attention : graph.nodes()) {
    if (!is_op(attention, "paged_attention")) continue;
    Node* write = producer_if(attention->input(1), "kv_write");
    if (!write || !has_one_reader(write->output())) continue;
    const auto& a = attention->attributes_as<Attention>();
    const std::optional<Rotated> q = Rotated::from(attention->input(0), a.head_dim), k = Rotated::from(write->input(1), a.head_dim);
    if (!q || !k || q->table != k->table || bool(q->norm_weight) != bool(k->norm_weight) || q->eps != k->eps) continue;
    if (q->rope->attributes() != k->rope->attributes()) continue;
    std::vector<Value> operands{write->input(0), q->x, k->x, write->input(2), q->table, write->input(3)};
    if (q->norm_weight) operands.insert(operands.end(), {q->norm_weight, k->norm_weight});
    graph.insert_before(attention);
    const std::vector<Value> post = graph.emit_all("qkv_post",
                                                   QkvPost{.heads = a.heads,
                                                           .kv_heads = a.kv_heads,
                                                           .head_dim = a.head_dim,
                                                           .interleaved = q->rope->attributes_as<Rope>().interleaved,
                                                           .qk_norm = bool(q->norm_weight),
                                                           .eps = q->eps},
                                                   std::move(operands));
    graph.insert_before(nullptr);
    graph.replace_all_uses(write->output(), post[0]);
    graph.replace_all_uses(attention->input(0), post[1]);
    graph.erase(*write);
    for (const Rotated* part : {&*q, &*k})
      for (Node* node : part->absorbed) graph.erase(*node);
  }
}

}  // namespace headrace
