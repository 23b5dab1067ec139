// The passes of pipeline.cpp. Each leaves marked outputs and shared values alone and keeps every value's meaning.
#pragma once

#include "headrace/compile.h"
#include "headrace/graph.h"

namespace headrace {

// Makes outputs of the values that options.marks name. Throws Error(kNotFound) that lists names like it for one that nothing has.
void mark_values(Graph& graph, const CompileOptions& options);

// Equal nodes become one; nodes that read only weights and constants move to the front (they are computed once, at load);
// views of views become one view, and views, slices and casts that change nothing go.
void canonicalize(Graph& graph, const CompileOptions& options);
void merge_equal_nodes(Graph& graph);  // a part of it

// Plain ops in which a fused op is spelt become that op: src/compiler/recognize.
void recognize(Graph& graph, const CompileOptions& options);

// dequantize moves behind permute, slice, view and concat, towards what computes with the numbers.
void move_dequantize(Graph& graph, const CompileOptions& options);

// mul(act(linear(x, gate)), linear(x, up)) -> fused_linear {gated}, either order of the factors.
void fuse_gated_mlp(Graph& graph, const CompileOptions& options);

// Linears that read the same value -> one fused_linear with several weights, and slices of its result.
void merge_linears(Graph& graph, const CompileOptions& options);

// A linear takes in: the norm before it (if it is the norm's only reader), a bias added after it, an activation, a residual sum.
void fuse_linear(Graph& graph, const CompileOptions& options);

// With options.kv_cache: attention {causal} -> kv_write and paged_attention over a new state "kv.N".
void use_kv_cache(Graph& graph, const CompileOptions& options);

// kv_write and the rope (and per-head norm) of the k it writes and of the q that attends -> qkv_post.
void fuse_qkv_post(Graph& graph, const CompileOptions& options);

// rms_norm or layer_norm of a sum -> add_rms_norm, add_layer_norm.
void fuse_add_norm(Graph& graph, const CompileOptions& options);

// index_select of rows moves before the row-wise ops that made them: what nobody selects is not computed. Of a language model's last
// layer, this leaves attention and what stands before it for the whole prompt, and one row a sequence for the rest.
void select_rows_early(Graph& graph, const CompileOptions& options);

// Pointwise ops and last-axis reductions that read each other -> region, which runs as one kernel.
void form_regions(Graph& graph, const CompileOptions& options);

void remove_dead(Graph& graph, const CompileOptions& options);

}  // namespace headrace
