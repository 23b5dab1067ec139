// Headrace's types as plugins see them, and back.
#pragma once

#include <bit>

#include "headrace/graph.h"
#include "headrace/plugin.h"

namespace headrace {

static_assert(HEADRACE_MAX_RANK == kMaxRank);

inline headrace_graph* to_c(Graph* graph) { return reinterpret_cast<headrace_graph*>(graph); }
inline Graph& of_c(headrace_graph* graph) { return *reinterpret_cast<Graph*>(graph); }
inline headrace_node* to_c(const Node* node) { return reinterpret_cast<headrace_node*>(const_cast<Node*>(node)); }
inline const Node& of_c(const headrace_node* node) { return *reinterpret_cast<const Node*>(node); }
inline Node& of_c(headrace_node* node) { return *reinterpret_cast<Node*>(node); }
inline const headrace_attributes* to_c(const Attributes* attributes) { return reinterpret_cast<const headrace_attributes*>(attributes); }
inline const Attributes& of_c(const headrace_attributes* attributes) { return *reinterpret_cast<const Attributes*>(attributes); }
inline const headrace_dim* to_c(const Dim* dim) { return reinterpret_cast<const headrace_dim*>(dim); }
inline const Dim& of_c(const headrace_dim* dim) { return *reinterpret_cast<const Dim*>(dim); }

// A Value is a pointer already: the handle is that pointer.
static_assert(sizeof(Value) == sizeof(headrace_value*) && std::is_trivially_copyable_v<Value>);
inline headrace_value* to_c(Value value) { return std::bit_cast<headrace_value*>(value); }
inline Value of_c(const headrace_value* value) { return std::bit_cast<Value>(value); }

headrace_dtype to_c(DType dtype);
DType dtype_of_c(headrace_dtype dtype);  // throws Error(kInvalidArgument) for a number that is no type

// The dims are those of `type`, which must stay.
headrace_type to_c(const TensorType& type);
std::vector<headrace_type> to_c(std::span<const TensorType> types);
// Throws Error(kInvalidArgument) for what is no type: a rank that is too high, a size that is missing or negative.
TensorType type_of_c(const headrace_type& type);

headrace_tensor to_c(const Tensor& tensor);
std::vector<headrace_tensor> to_c(std::span<const Tensor> tensors);

}  // namespace headrace
