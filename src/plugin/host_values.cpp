#include "plugin/call_context.h"
#include "plugin/handles.h"
#include "plugin/host.h"

namespace headrace {
namespace {

using Context = headrace_context*;
using OfNode = const headrace_node*;
using OfValue = const headrace_value*;

headrace_value* at(const std::vector<Value>& values, uint32_t index) { return index < values.size() ? to_c(values[index]) : nullptr; }

}  // namespace

void add_value_functions(headrace_host& h) {
  h.node_op = [](Context, OfNode node) { return of_c(node).op().name.c_str(); };
  h.node_attributes = [](Context, OfNode node) { return to_c(&of_c(node).attributes()); };
  h.node_num_inputs = [](Context, OfNode node) { return uint32_t(of_c(node).inputs().size()); };
  h.node_num_outputs = [](Context, OfNode node) { return uint32_t(of_c(node).outputs().size()); };
  h.node_input = [](Context, OfNode node, uint32_t index) { return at(of_c(node).inputs(), index); };
  h.node_output = [](Context, OfNode node, uint32_t index) { return at(of_c(node).outputs(), index); };

  h.value_name = [](Context, OfValue value) { return of_c(value).name().c_str(); };
  h.value_leaf = [](Context, OfValue value) {
    static_assert(int(Leaf::kInput) == HEADRACE_INPUT && int(Leaf::kParameter) == HEADRACE_PARAMETER &&
                  int(Leaf::kState) == HEADRACE_STATE && int(Leaf::kConstant) == HEADRACE_CONSTANT);
    return headrace_leaf(of_c(value).leaf());
  };
  h.value_producer = [](Context, OfValue value) { return to_c(of_c(value).producer()); };
  h.value_is_output = [](Context, OfValue value) { return int32_t{of_c(value).is_output()}; };
  h.value_is_known = [](Context, OfValue value) { return int32_t{of_c(value).is_known_at_load()}; };
  h.value_type = [](Context c, OfValue value, headrace_type* to) {
    return answer(c, [&](CallContext& call) { *to = to_c(call.keep(of_c(value).type())); });
  };
  h.value_users = [](Context c, OfValue value, headrace_node* const** to, size_t* num) {
    return answer(c, [&](CallContext& call) {
      std::vector<headrace_node*> users;
      for (const Node* user : of_c(value).users()) users.push_back(to_c(user));
      const auto& kept = call.keep(std::move(users));
      *to = kept.data(), *num = kept.size();
    });
  };
  h.value_constant = [](Context c, OfValue value, headrace_tensor* to) {
    return answer(c, [&](CallContext&) {
      if (of_c(value).leaf() != Leaf::kConstant) invalid("'{}' is no constant of the graph", of_c(value).name());
      *to = to_c(of_c(value).constant().view());
    });
  };
}

}  // namespace headrace
