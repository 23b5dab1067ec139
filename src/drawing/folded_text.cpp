#include "drawing/folded_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "drawing/outline.h"

namespace headrace {

std::string folded_text(const Graph& graph) {
  const Outline outline = outline_of(graph);
  std::unordered_set<const Node*> hidden;
  std::unordered_map<const Node*, std::string> notes;  // behind the last node that is shown of a repetition
  for (const Repetition& r : outline.repetitions) {
    if (r.count == 1) continue;
    const size_t shown = r.first + r.period, end = r.first + r.period * r.count;
    size_t nodes = 0;
    for (size_t b = shown; b < end; ++b)
      nodes += outline.blocks[b].nodes.size(), hidden.insert(outline.blocks[b].nodes.begin(), outline.blocks[b].nodes.end());
    const auto named = [&](size_t b) { return outline.blocks[b].layer.empty() ? "what precedes" : outline.blocks[b].layer; };
    notes[outline.blocks[shown - 1].nodes.back()] = fmt::format("  # {} to {}: the same, {} nodes\n", named(shown), named(end - 1), nodes);
  }
  const auto is_hidden = [&](Value v) {
    return !v.users().empty() && !v.is_output() && std::ranges::all_of(v.users(), [&](const Node* user) { return hidden.count(user) > 0; });
  };
  const std::vector<Node*> nodes = graph.nodes();
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it)  // what is made of weights alone goes with those who read it
    if (!outline.places.count(*it) && std::ranges::all_of((*it)->outputs(), is_hidden)) hidden.insert(*it);

  // to_text has a line for the name, for each leaf, each node and each result.
  const std::string text = graph.to_text();
  std::string out;
  size_t at = 0;
  const auto take_line = [&](bool is_shown) {
    const size_t end = text.find('\n', at) + 1;
    if (is_shown) out += text.substr(at, end - at);
    at = end;
  };
  take_line(true);
  std::vector<std::pair<std::string_view, std::vector<Value>>> leaves;
  for (const auto& [word, kind] : {std::pair("  input ", Leaf::kInput), std::pair("  param ", Leaf::kParameter),
                                   std::pair("  state ", Leaf::kState), std::pair("  const ", Leaf::kConstant)}) {
    leaves.emplace_back(word, graph.leaves(kind));
    std::ranges::reverse(leaves.back().second);
  }
  const auto take_leaf = [&] {
    for (auto& [word, values] : leaves)
      if (text.compare(at, word.size(), word) == 0) {
        take_line(!is_hidden(values.back()));
        values.pop_back();
        return true;
      }
    return false;
  };
  while (take_leaf()) {
  }
  for (const Node* node : nodes) {
    take_line(!hidden.count(node));
    if (const auto note = notes.find(node); note != notes.end()) out += note->second;
  }
  return out + text.substr(at);
}

}  // namespace headrace
