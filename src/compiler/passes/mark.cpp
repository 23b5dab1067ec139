#include <algorithm>
#include <cctype>

#include "compiler/passes/passes.h"
#include "core/error.h"
#include "core/glob.h"

namespace headrace {
namespace {

// Results of nodes that the author named; those that only count have numbers.
std::vector<Value> named_values(const Graph& graph) {
  std::vector<Value> found;
  for (const Node* node : graph.nodes())
    for (const Value& v : node->outputs())
      if (!std::isdigit(static_cast<unsigned char>(v.name()[0]))) found.push_back(v);
  return found;
}

bool is_returned(const Graph& graph, std::string_view name) {
  return std::ranges::any_of(graph.outputs(), [&](const Graph::Output& o) { return o.name == name; });
}

// Some names that have the pattern's last word in common, else some of all.
std::string examples(const std::vector<Value>& values, std::string_view pattern) {
  const std::string_view stem = pattern.substr(0, pattern.find_last_not_of("*?.") + 1);
  const std::string_view word = stem.substr(stem.find_last_of("*?.") + 1);
  std::string near, any;
  int num_near = 0, num_any = 0;
  for (const Value& v : values) {
    if (!word.empty() && v.name().find(word) != std::string::npos && num_near++ < 6) near += (near.empty() ? "" : ", ") + v.name();
    if (num_any++ < 6) any += (any.empty() ? "" : ", ") + v.name();
  }
  return near.empty() ? any : near;
}

}  // namespace

void mark_values(Graph& graph, const CompileOptions& options) {
  const std::vector<Value> values = options.marks.empty() ? std::vector<Value>() : named_values(graph);
  for (const std::string& mark : options.marks) {
    bool found = !is_glob(mark) && is_returned(graph, mark);
    for (const Value& v : values) {
      if (!matches_glob(mark, v.name())) continue;
      found = true;
      if (!is_returned(graph, v.name())) graph.mark_output(v, v.name());
    }
    if (!found && values.empty()) fail(ErrorCode::kNotFound, "no value is called '{}': no value of this graph has a name", printable(mark));
    if (!found)
      fail(ErrorCode::kNotFound, "no value is called '{}'; this graph has {} with names, such as {}", printable(mark), values.size(),
           examples(values, mark));
  }
}

}  // namespace headrace
