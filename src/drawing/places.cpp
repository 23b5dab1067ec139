#include "drawing/places.h"

#include <algorithm>
#include <cctype>
#include <unordered_set>
#include <vector>

namespace headrace {
namespace {

std::string_view parent_of(std::string_view path) {
  const size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : path.substr(0, dot);
}

std::string join(std::string_view path, std::string_view name) {
  return path.empty() ? std::string(name) : std::string(path) + "." + std::string(name);
}

// The longest path that both begin with, in whole words.
std::string_view common(std::string_view a, std::string_view b) {
  size_t end = 0;
  for (size_t i = 0; i <= std::min(a.size(), b.size()); ++i) {
    const bool a_ends = i == a.size() || a[i] == '.', b_ends = i == b.size() || b[i] == '.';
    if (a_ends && b_ends) end = i;
    if (i == a.size() || i == b.size() || a[i] != b[i]) break;
  }
  return a.substr(0, end);
}

// Up to the first word that is a number.
std::string_view layer_of(std::string_view path) {
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find('.', begin), path.size());
    if (std::all_of(path.begin() + int64_t(begin), path.begin() + int64_t(end), [](unsigned char c) { return std::isdigit(c); }))
      return path.substr(0, end);
    begin = end + 1;
  }
  return {};
}

// The parameters that a node's operands known at load are made of: matrices, or all if there is none (a norm beside them may have been
// fused in from elsewhere).
std::vector<Value> weights_of(const Node& node) {
  std::vector<Value> weights, wanted;
  for (const Value& in : node.inputs())
    if (in.is_known_at_load()) wanted.push_back(in);
  for (int steps = 0; !wanted.empty() && steps < 1000; ++steps) {
    const Value v = wanted.back();
    wanted.pop_back();
    if (v.leaf() == Leaf::kParameter) weights.push_back(v);
    else if (v.producer()) wanted.insert(wanted.end(), v.producer()->inputs().begin(), v.producer()->inputs().end());
  }
  const auto is_matrix = [](const Value& v) { return v.shape().rank() > 1; };
  if (std::ranges::any_of(weights, is_matrix)) std::erase_if(weights, [&](const Value& v) { return !is_matrix(v); });
  return weights;
}

// A node's own path, and that of the module around it, where nodes without weights that follow stand.
struct Path {
  std::string own, around;
};

Path path_by_weights(const Node& node, const std::vector<Value>& weights) {
  std::string_view module = parent_of(weights[0].name());
  for (const Value& w : weights) module = common(module, parent_of(w.name()));
  const bool is_one_layer = std::ranges::all_of(weights, [&](const Value& w) { return parent_of(w.name()) == module; });
  if (is_one_layer) return {std::string(module), std::string(parent_of(module))};
  return {join(module, node.op().name), std::string(module)};
}

}  // namespace

std::unordered_map<const Node*, NodePlace> node_places(const Graph& graph) {
  std::unordered_map<const Node*, NodePlace> places;
  std::unordered_map<const Node*, std::string> around;
  std::string before;  // around the last node that has something around it
  std::unordered_map<const Node*, std::string> outputs;
  for (const Graph::Output& o : graph.outputs()) outputs.emplace(o.value.producer(), o.name);
  std::unordered_map<std::string, int> counts;
  std::unordered_set<std::string> taken;
  for (const Node* node : graph.nodes()) {
    if (node->output().is_known_at_load()) continue;
    Path path;
    if (const std::vector<Value> weights = weights_of(*node); !weights.empty()) {
      path = path_by_weights(*node, weights);
    } else {
      const bool is_placed = std::ranges::any_of(node->inputs(), [&](const Value& in) {
        const auto made = around.find(in.producer());
        return made != around.end() && !made->second.empty();
      });
      if (is_placed) path.around = before;
      path.own = join(path.around, node->op().name);
    }
    around[node] = path.around;
    if (!path.around.empty()) before = path.around;
    if (const auto output = outputs.find(node); output != outputs.end() && layer_of(path.own).empty()) path.own = output->second;
    if (path.own.empty()) path.own = node->op().name;
    std::string unique;
    int& count = counts[path.own];
    do unique = count++ ? path.own + "_" + std::to_string(count) : path.own;
    while (!taken.insert(unique).second);
    const std::string layer(layer_of(unique));
    places[node] = {unique, layer, layer.empty() ? unique : unique.substr(std::min(layer.size() + 1, unique.size()))};
  }
  return places;
}

}  // namespace headrace
