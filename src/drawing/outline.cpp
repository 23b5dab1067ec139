#include "drawing/outline.h"

#include <algorithm>

namespace headrace {
namespace {

// A name inside a layer as it would be in any other.
std::string without_layer(const std::string& name, const std::string& layer) {
  return !layer.empty() && name.starts_with(layer) ? name.substr(layer.size()) : name;
}

// What must be equal for two blocks to be the same layer twice: ops, attributes, types, weights' places, and how the nodes hang together.
std::string signature(const Block& block, const Outline& outline) {
  std::unordered_map<Value, std::string> own;
  std::string text;
  for (const Node* node : block.nodes) {
    text += outline.places.at(node).local + " " + node->op().name;
    for (const Field& f : node->attributes().changed_fields()) text += " " + f.name + "=" + f.text;
    for (const Value& in : node->inputs()) {
      const auto it = own.find(in);
      text += " " + (it != own.end() ? it->second : in.leaf() == Leaf::kParameter ? without_layer(in.name(), block.layer) : "");
      const bool is_given = in.leaf() == Leaf::kNone || in.leaf() == Leaf::kInput;  // the first layer may read an input
      text += (is_given ? "" : std::to_string(int(in.leaf()))) + in.type().to_string();
    }
    for (const Value& out : node->outputs()) {
      own[out] = "#" + std::to_string(own.size());
      text += " > " + out.type().to_string() + (out.is_output() ? "!" : "");
    }
    text += "\n";
  }
  return text;
}

constexpr size_t kLongestPeriod = 12;  // layers of different kinds that take turns

}  // namespace

std::vector<Repetition> find_repetitions(const std::vector<std::string>& items) {
  std::unordered_map<std::string, size_t> numbers;
  std::vector<size_t> n;  // equal numbers for equal items
  for (const std::string& item : items) n.push_back(numbers.emplace(item, numbers.size()).first->second);
  std::vector<Repetition> found;
  for (size_t at = 0; at < n.size(); at += found.back().period * found.back().count) {
    Repetition best{at, 1, 1};
    for (size_t period = 1; period <= kLongestPeriod && at + 2 * period <= n.size(); ++period) {
      size_t equal = 0;  // items in a row that equal the one a period later
      while (at + equal + period < n.size() && n[at + equal] == n[at + equal + period]) ++equal;
      const size_t count = equal / period + 1;
      if (count > 1 && count * period > best.count * best.period) best = {at, period, count};
    }
    found.push_back(best);
  }
  return found;
}

Outline outline_of(const Graph& graph) {
  Outline outline{.places = node_places(graph)};
  Block first;
  std::vector<Block> rest;
  std::unordered_map<const Node*, bool> from_inputs;
  for (const Node* node : graph.nodes()) {
    const auto place = outline.places.find(node);
    if (place == outline.places.end()) continue;
    const std::string& layer = place->second.layer;
    bool alone = layer.empty() && !node->op().writes_state;
    for (const Value& in : node->inputs())
      if (in.producer() && outline.places.count(in.producer())) alone = alone && from_inputs.at(in.producer());
    from_inputs[node] = alone;
    if (alone) {
      first.nodes.push_back(node);
      continue;
    }
    if (rest.empty() || rest.back().layer != layer) rest.push_back({layer, {}});
    rest.back().nodes.push_back(node);
  }
  if (!first.nodes.empty()) outline.blocks.push_back(std::move(first));
  std::ranges::move(rest, std::back_inserter(outline.blocks));
  std::vector<std::string> signatures;
  for (const Block& block : outline.blocks) signatures.push_back(signature(block, outline));
  outline.repetitions = find_repetitions(signatures);
  return outline;
}

}  // namespace headrace
