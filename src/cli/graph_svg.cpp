#include "cli/graph_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace headrace::cli {
namespace {

constexpr int kWidth = 460, kLeft = 40, kTop = 70, kLine = 17, kGap = 44, kPadding = 9, kLane = 14;

std::string escaped(const std::string& text) {
  std::string out;
  for (char c : text) out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : c == '"' ? "&quot;" : std::string(1, c);
  return out;
}

std::string text(int x, int y, const std::string& style, const std::string& content) {
  return fmt::format("<text x=\"{}\" y=\"{}\" class=\"{}\">{}</text>\n", x, y, style, escaped(content));
}

// What must be equal for two nodes to be the same step of two layers.
std::string signature(const Node& node) {
  std::string s = node.op().name;
  for (const Value& v : node.inputs()) s += fmt::format(" {}{}", int(v.leaf()), v.type().to_string());
  for (const Value& v : node.outputs()) s += " > " + v.type().to_string();
  for (const Field& f : node.attributes().changed_fields()) s += " " + f.name + "=" + f.text;
  return s;
}

// The weights and inputs that a node reads.
std::vector<std::string> leaf_lines(const Node& node) {
  std::vector<std::string> lines;
  for (const Value& v : node.inputs())
    if (v.leaf() != Leaf::kNone) lines.push_back(v.name() + "  " + v.type().to_string());
  std::sort(lines.begin() + 0, lines.end());
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  return lines;
}

const char* color_of(const Node& node) {
  const std::string& op = node.op().name;
  const auto has = [&](const char* part) { return op.find(part) != std::string::npos; };
  if (has("attention") || has("kv") || has("qkv")) return "#fde8d7";
  if (has("linear") || has("matmul")) return "#dcebfb";
  if (has("norm")) return "#e6f4e1";
  if (has("embedding") || has("index")) return "#f2e6fa";
  return "#f3f3f0";
}

struct Box {
  const Node* node;
  std::vector<std::string> lines;
  int y = 0, height = 0;
};

}  // namespace

Repetition find_repetition(const std::vector<std::string>& items) {
  const int n = int(items.size());
  Repetition best;
  int covered = 0;
  for (int period = 1; period <= n / 2; ++period) {
    int run = 0;  // how many items in a row equal the one a period later
    for (int i = 0; i + period <= n; ++i) {
      if (i + period < n && items[size_t(i)] == items[size_t(i + period)]) {
        ++run;
        continue;
      }
      const int count = run / period + 1;
      if (count > 1 && count * period > covered) {
        covered = count * period;
        best = {i - run, period, count};
      }
      run = 0;
    }
  }
  return best;
}

std::string graph_svg(const Graph& graph) {
  const std::vector<Node*> nodes = graph.nodes();
  std::vector<std::string> signatures;
  for (const Node* node : nodes) signatures.push_back(signature(*node));
  const Repetition repeated = find_repetition(signatures);
  const int hidden_begin = repeated.begin + repeated.period, hidden_end = repeated.begin + repeated.period * repeated.count;

  std::vector<Box> boxes;
  std::map<const Node*, int> box_of;  // of hidden nodes: the box that stands for them
  int y = kTop;
  for (int i = 0; i < int(nodes.size()); ++i) {
    const bool hidden = repeated.count > 1 && i >= hidden_begin && i < hidden_end;
    if (hidden) {
      box_of[nodes[size_t(i)]] = repeated.begin + (i - repeated.begin) % repeated.period;
      continue;
    }
    if (repeated.count > 1 && (i == repeated.begin || i == hidden_end)) y += kGap / 2;
    box_of[nodes[size_t(i)]] = int(boxes.size());
    Box box{nodes[size_t(i)], leaf_lines(*nodes[size_t(i)])};
    box.y = y, box.height = 2 * kPadding + kLine * (1 + int(box.lines.size())) - 4;
    y += box.height + kGap;
    boxes.push_back(std::move(box));
  }

  std::string arrows, rects;
  int lanes = 0;
  std::vector<int> lane_free;  // the y below which a lane is free again
  for (int b = 0; b < int(boxes.size()); ++b) {
    const Box& box = boxes[size_t(b)];
    std::map<int, std::string> from;
    for (const Value& v : box.node->inputs())
      if (v.producer() && box_of.at(v.producer()) < b) from[box_of.at(v.producer())] = v.type().to_string();
    for (const auto& [source, type] : from) {
      const Box& above = boxes[size_t(source)];
      const int start = above.y + above.height;
      if (source == b - 1) {
        arrows += fmt::format("<path d=\"M{0} {1}V{2}\" class=\"arrow\"/>\n", kLeft + kWidth / 2, start, box.y - 3);
        arrows += text(kLeft + kWidth / 2 + 8, box.y - kGap / 2 + 6, "type", type);
        continue;
      }
      size_t lane = 0;
      while (lane < lane_free.size() && lane_free[lane] > start) ++lane;
      if (lane == lane_free.size()) lane_free.push_back(0);
      lane_free[lane] = box.y + box.height;
      lanes = std::max(lanes, int(lane) + 1);
      const int x = kLeft + kWidth, bend = x + kLane * (int(lane) + 1), from_y = start - 10, to_y = box.y + 10;
      arrows += fmt::format("<path d=\"M{0} {1}H{2}Q{3} {1} {3} {4}V{5}Q{3} {6} {2} {6}H{7}\" class=\"arrow\"/>\n", x, from_y, bend - 8,
                            bend, from_y + 8, to_y - 8, to_y, x + 4);
    }
    rects += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"7\" fill=\"{}\" class=\"node\"/>\n", kLeft, box.y, kWidth,
                         box.height, color_of(*box.node));
    rects += text(kLeft + 12, box.y + kPadding + 11, "op", box.node->op().name);
    for (size_t l = 0; l < box.lines.size(); ++l)
      rects += text(kLeft + 12, box.y + kPadding + 11 + kLine * (int(l) + 1), "leaf", box.lines[l]);
  }
  const int width = kLeft * 2 + kWidth + kLane * (lanes + 1) + 60;
  std::string frame;
  if (repeated.count > 1) {
    const Box &first = boxes[size_t(repeated.begin)], &last = boxes[size_t(repeated.begin + repeated.period - 1)];
    frame = fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"12\" class=\"frame\"/>\n", kLeft - 16, first.y - 18,
                        kWidth + 32 + kLane * lanes + 50, last.y + last.height - first.y + 36);
    frame += text(kLeft + kWidth + kLane * lanes + 18, first.y + 4, "op", fmt::format("\u00d7 {}", repeated.count));
  }
  std::string outputs;
  for (const Graph::Output& o : graph.outputs()) outputs += (outputs.empty() ? "" : ", ") + o.name + "  " + o.value.type().to_string();
  const int height = y + 20;
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n"
             "<style>text{{font:12px "
             "ui-monospace,Menlo,Consolas,monospace;fill:#222}}.op{{font-weight:bold}}.leaf{{fill:#555;font-size:11px}}"
             ".type{{fill:#777;font-size:11px}}.title{{font-size:16px;font-weight:bold}}.node{{stroke:#8a8a80;stroke-width:1}}"
             ".frame{{fill:#fafaf6;stroke:#8a8a80;stroke-dasharray:5 "
             "4}}.arrow{{fill:none;stroke:#555;stroke-width:1.2;marker-end:url(#tip)}}</style>\n"
             "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\">"
             "<path d=\"M0 0L8 4L0 8z\" fill=\"#555\"/></marker></defs>\n<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n",
             width, height) +
         text(kLeft, 32, "title", fmt::format("{} ({} nodes)", graph.name(), nodes.size())) + frame + arrows + rects +
         text(kLeft + 12, y - kGap / 2 + 12, "leaf", "returns " + outputs) + "</svg>\n";
}

}  // namespace headrace::cli
