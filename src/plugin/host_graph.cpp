#include <cstring>

#include "core/dtype.h"
#include "plugin/call_context.h"
#include "plugin/handles.h"
#include "plugin/host.h"

namespace headrace {
namespace {

using Context = headrace_context*;
using OfGraph = headrace_graph*;

// What a plugin hands over must be of the graph that it says.
Value own(Graph& graph, const headrace_value* value, const char* what) {
  if (!value) invalid("{}: a value is wanted, null was given", what);
  if (&of_c(value).graph() != &graph) invalid("{}: '{}' is a value of another graph", what, of_c(value).name());
  return of_c(value);
}
Node& own(Graph& graph, headrace_node* node, const char* what) {
  if (!node) invalid("{}: a node is wanted, null was given", what);
  if (&of_c(node).graph() != &graph) invalid("{}: the node is one of another graph", what);
  return of_c(node);
}

// By one of the two ways in which attributes are made: defaults of the op's type, then the fields that were given.
Attributes attributes_of(const OpDef& op, std::span<const headrace_attribute> given) {
  std::vector<Field> fields;
  for (const headrace_attribute& a : given) fields.push_back({a.name ? a.name : "", a.text ? a.text : ""});
  try {
    return Attributes(op.attributes, fields);
  } catch (const Error& e) {
    fail(e.code, "{}: {}", op.name, e.what());
  }
}

Value leaf_of(Graph& graph, headrace_leaf kind, const char* name, const headrace_type* type) {
  switch (kind) {
    case HEADRACE_INPUT: return graph.input(name, type_of_c(*type));
    case HEADRACE_PARAMETER: return graph.parameter(name, type_of_c(*type));
    case HEADRACE_STATE: return graph.state(name, type_of_c(*type));
    default: invalid("graph_leaf: {} is neither input, parameter nor state", kind);
  }
}

void add_looking(headrace_host& h) {
  h.graph_nodes = [](Context c, OfGraph graph, headrace_node* const** to, size_t* num) {
    return answer(c, [&](CallContext& call) {
      std::vector<headrace_node*> nodes;
      for (const Node* node : of_c(graph).nodes()) nodes.push_back(to_c(node));
      const auto& kept = call.keep(std::move(nodes));
      *to = kept.data(), *num = kept.size();
    });
  };
  h.graph_find = [](Context c, OfGraph graph, headrace_leaf kind, const char* name, headrace_value** to) {
    return answer(c, [&](CallContext&) { *to = to_c(of_c(graph).find(Leaf(kind), name)); });
  };
  h.graph_num_outputs = [](Context c, OfGraph graph, size_t* to) {
    return answer(c, [&](CallContext&) { *to = of_c(graph).outputs().size(); });
  };
  h.graph_output = [](Context c, OfGraph graph, size_t index, const char** name, headrace_value** to) {
    return answer(c, [&](CallContext& call) {
      const std::vector<Graph::Output>& outputs = of_c(graph).outputs();
      if (index >= outputs.size()) invalid("graph_output: number {} of {} outputs", index, outputs.size());
      *name = call.keep(outputs[index].name).c_str(), *to = to_c(outputs[index].value);
    });
  };
  h.graph_text = [](Context c, OfGraph graph, const char** to) {
    return answer(c, [&](CallContext& call) { *to = call.keep(of_c(graph).to_text()).c_str(); });
  };
}

void add_adding(headrace_host& h) {
  h.graph_insert_before = [](Context c, OfGraph graph, headrace_node* node) {
    return answer(c, [&](CallContext&) { of_c(graph).insert_before(node ? &own(of_c(graph), node, "graph_insert_before") : nullptr); });
  };
  h.graph_emit = [](Context c, OfGraph graph, const char* op, const headrace_attribute* attributes, size_t num_attributes,
                    headrace_value* const* inputs, size_t num_inputs, headrace_value* const** to, size_t* num) {
    return answer(c, [&](CallContext& call) {
      const OpDef* definition = of_c(graph).ops().find(op);
      if (!definition) fail(ErrorCode::kNotFound, "graph_emit: there is no op '{}'", printable(op));
      std::vector<Value> operands;
      for (size_t i = 0; i < num_inputs; ++i) operands.push_back(own(of_c(graph), inputs[i], op));
      std::vector<headrace_value*> results;
      for (const Value& v : of_c(graph).emit_all(op, attributes_of(*definition, {attributes, num_attributes}), std::move(operands)))
        results.push_back(to_c(v));
      const auto& kept = call.keep(std::move(results));
      *to = kept.data();
      if (num) *num = kept.size();
    });
  };
  h.graph_leaf = [](Context c, OfGraph graph, headrace_leaf kind, const char* name, const headrace_type* type, headrace_value** to) {
    return answer(c, [&](CallContext&) { *to = to_c(leaf_of(of_c(graph), kind, name, type)); });
  };
  h.graph_constant = [](Context c, OfGraph graph, const headrace_tensor* from, headrace_value** to) {
    return answer(c, [&](CallContext&) {
      if (from->rank > kMaxRank) invalid("graph_constant: a rank of {}; at most {} is possible", from->rank, kMaxRank);
      const Sizes sizes(std::span<const int64_t>(from->sizes, from->rank));
      const std::optional<int64_t> bytes = checked_bytes(dtype_of_c(from->dtype), sizes);
      if (!bytes || (*bytes && !from->data)) invalid("graph_constant: impossible sizes {}, or no data", sizes.to_string());
      HostTensor tensor(dtype_of_c(from->dtype), sizes);
      if (*bytes) std::memcpy(tensor.view().data, from->data, size_t(*bytes));
      *to = to_c(of_c(graph).constant(std::move(tensor)));
    });
  };
  h.graph_mark_output = [](Context c, OfGraph graph, headrace_value* value, const char* name) {
    return answer(c, [&](CallContext&) { of_c(graph).mark_output(own(of_c(graph), value, "graph_mark_output"), name); });
  };
  h.parameter = [](Context c, OfGraph graph, const char* name, const headrace_type* type, headrace_value** to) {
    return answer(c, [&](CallContext& call) {
      headrace_type wanted = *type;
      if (wanted.dtype == HEADRACE_AS_STORED) {
        if (!call.stored) fail(ErrorCode::kUnsupported, "parameter: only a model family's build knows what is stored; name a type");
        const std::optional<DType> stored = (*call.stored)(name);
        wanted.dtype = stored ? to_c(*stored) : headrace_dtype{HEADRACE_F32};
      }
      *to = to_c(of_c(graph).parameter(name, type_of_c(wanted)));
    });
  };
  h.has_weight = [](Context c, const char* name, int32_t* to) {
    return answer(c, [&](CallContext& call) {
      if (!call.stored) fail(ErrorCode::kUnsupported, "has_weight: only a model family's build knows what is stored");
      *to = (*call.stored)(name).has_value();
    });
  };
}

void add_changing(headrace_host& h) {
  h.graph_replace_uses = [](Context c, OfGraph graph, headrace_value* from, headrace_value* by) {
    return answer(c, [&](CallContext&) {
      const Value old = own(of_c(graph), from, "graph_replace_uses"), fresh = own(of_c(graph), by, "graph_replace_uses");
      if (old.type() != fresh.type())
        invalid("graph_replace_uses: '{}' is {}, and is to be replaced by '{}', which is {}", old.name(), old.type().to_string(),
                fresh.name(), fresh.type().to_string());
      of_c(graph).replace_all_uses(old, fresh);
    });
  };
  h.graph_set_input = [](Context c, OfGraph graph, headrace_node* node, uint32_t index, headrace_value* value) {
    return answer(c, [&](CallContext&) {
      Node& changed = own(of_c(graph), node, "graph_set_input");
      if (index >= changed.inputs().size())
        invalid("graph_set_input: operand {} of {}, which has {}", index, changed.op().name, changed.inputs().size());
      of_c(graph).set_input(changed, int(index), own(of_c(graph), value, "graph_set_input"));
    });
  };
  h.graph_erase = [](Context c, OfGraph graph, headrace_node* node) {
    return answer(c, [&](CallContext&) { of_c(graph).erase(own(of_c(graph), node, "graph_erase")); });
  };
  h.graph_remove_dead = [](Context c, OfGraph graph) { return answer(c, [&](CallContext&) { of_c(graph).remove_dead(); }); };
}

}  // namespace

void add_graph_functions(headrace_host& h) {
  add_looking(h);
  add_adding(h);
  add_changing(h);
}

}  // namespace headrace
