#include "drawing/graph_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <unordered_set>

#include "drawing/outline.h"
#include "drawing/size_text.h"

namespace headrace {
namespace {

constexpr int kLeft = 92, kWidth = 520, kTop = 96, kLine = 16, kPadding = 10, kLane = 13, kGap = 22, kFramePadding = 26;
constexpr double kCharacter = 6.65;  // of the small monospaced letters
constexpr size_t kMostLeaves = 12;   // lines of one box
constexpr size_t kMostLabels = 4;    // of one arrow

struct Kind {
  const char *name, *fill, *edge;
};
constexpr Kind kKinds[] = {
    {"product", "#dcebfb", "#3b78b5"}, {"attention and cache", "#fde8d7", "#c0702a"}, {"norm", "#e4f3de", "#5a9a45"},
    {"lookup", "#f0e5f9", "#8457b0"},  {"between devices", "#fbdde0", "#b5434f"},     {"other", "#f3f3ee", "#85857c"}};

const Kind& kind_of(const std::string& op) {
  const auto has = [&](std::initializer_list<const char*> parts) {
    return std::ranges::any_of(parts, [&](const char* part) { return op.find(part) != std::string::npos; });
  };
  if (has({"all_reduce", "all_gather", "reduce_scatter", "send", "recv"})) return kKinds[4];
  if (has({"attention", "kv_", "qkv"})) return kKinds[1];
  if (has({"linear", "matmul", "conv", "moe"})) return kKinds[0];
  if (has({"norm", "softmax"})) return kKinds[2];
  if (has({"embedding", "index", "gather", "table"})) return kKinds[3];
  return kKinds[5];
}

std::string escaped(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '&') out += "&amp;";
    else if (c == '"') out += "&quot;";
    else out += std::iscntrl(static_cast<unsigned char>(c)) ? '?' : c;
  }
  return out;
}

// With its middle left out when it is longer than that.
std::string shortened(const std::string& text, size_t longest) {
  return text.size() <= longest ? text
                                : text.substr(0, longest / 2 - 1) + "\u2026" + text.substr(text.size() - (longest - longest / 2 - 1));
}

std::string text_at(int x, int y, const char* style, const std::string& content) {
  return fmt::format("<text x=\"{}\" y=\"{}\" class=\"{}\">{}</text>\n", x, y, style, escaped(content));
}

std::string rect(int x, int y, int width, int height, int radius, const std::string& rest) {
  return fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\" {}/>\n", x, y, width, height, radius, rest);
}

struct LeafLine {
  const char* colour;
  std::string name, type;
};

struct Box {
  const Node* node = nullptr;  // null: an output of the graph
  std::string title, place, attributes;
  std::vector<LeafLine> leaves;
  std::vector<std::string> straight, side;    // labels of the arrow from the box above, and of the others
  std::string part;                           // of its layer: "self_attn"
  std::map<size_t, std::vector<Value>> from;  // what comes from which box
  size_t layer = 0;                           // the frame it stands in; 0: none
  int y = 0, height = 0;
};

struct Frame {
  std::string name, times;
  size_t first = 0, last = 0;  // boxes
  bool is_stack = false;       // one of several that are alike
};

// What a value is a view of.
Value viewed(Value value) {
  while (value.producer() && value.producer()->op().view) value = value.producer()->input(0);
  return value;
}

// The state that a value is, as some node left it in place; an empty Value when it is none.
Value state_of(Value value) {
  while (const Node* node = value.producer()) {
    const int operand = node->op().view ? 0 : value.output_index() == 0 ? node->op().in_place_operand : -1;
    if (operand < 0) return {};
    value = node->input(operand);
  }
  return value.leaf() == Leaf::kState ? value : Value();
}

std::string label_of(Value value) {
  if (const Value state = state_of(value)) return state.name() + ", in place";
  const std::string bytes = bytes_text(value.type());
  return value.type().to_string() + (bytes.empty() ? "" : " \u00b7 " + bytes);
}

// The leaves that a value known at load is made of.
void collect_leaves(Value value, std::vector<Value>& leaves) {
  std::vector<Value> wanted{value};
  for (int steps = 0; !wanted.empty() && steps < 1000; ++steps) {
    const Value v = wanted.back();
    wanted.pop_back();
    if (!v.producer()) leaves.push_back(v);
    else wanted.insert(wanted.end(), v.producer()->inputs().rbegin(), v.producer()->inputs().rend());
  }
}

std::vector<LeafLine> leaf_lines(const Node& node, const std::string& layer) {
  std::vector<Value> leaves;
  for (const Value& in : node.inputs())
    if (const Value v = viewed(in); !v.producer() || v.is_known_at_load()) collect_leaves(v, leaves);
  std::vector<LeafLine> lines;
  std::unordered_set<Value> seen;
  double left_out = 0;
  size_t num_left_out = 0;
  for (const Value& v : leaves) {
    if (!seen.insert(v).second) continue;
    if (lines.size() == kMostLeaves) {
      ++num_left_out, left_out += v.shape().is_constant() ? double(storage_bytes(v.dtype(), v.shape().numel().value())) : 0;
      continue;
    }
    const bool is_weight = v.leaf() == Leaf::kParameter, is_inside = !layer.empty() && v.name().starts_with(layer + ".");
    const std::string bytes = is_weight || v.leaf() == Leaf::kState ? bytes_text(v.type()) : "";
    lines.push_back({is_weight                     ? "#3b78b5"
                     : v.leaf() == Leaf::kState    ? "#c0702a"
                     : v.leaf() == Leaf::kConstant ? "#b5b5ab"
                                                   : "#5a9a45",
                     v.leaf() == Leaf::kConstant ? "constant"
                     : is_inside                 ? v.name().substr(layer.size() + 1)
                                                 : v.name(),
                     v.type().to_string() + (bytes.empty() ? "" : " \u00b7 " + bytes)});
  }
  if (num_left_out) lines.push_back({"#ffffff", fmt::format("and {} more", num_left_out), bytes_text(left_out)});
  return lines;
}

// "self_attn" of "self_attn.o_proj".
std::string part_of(const NodePlace& place) {
  const size_t dot = place.local.find('.');
  return place.layer.empty() || dot == std::string::npos ? "" : place.local.substr(0, dot);
}

class Picture {
 public:
  explicit Picture(const Graph& graph) : graph_(graph), outline_(outline_of(graph)) {
    add_boxes();
    add_outputs();
    connect();
    name_arrows();
    arrange();
  }
  std::string svg() const;

 private:
  void add_boxes();
  void add_outputs();
  void connect();
  void name_arrows();
  void arrange();
  std::string frames() const;
  std::string parts() const;
  std::string arrows() const;
  std::string boxes() const;
  std::string head() const;
  // The others leave their box to the right and go down a lane.
  bool is_straight(size_t from, size_t to) const { return from + 1 == to; }

  const Graph& graph_;
  Outline outline_;
  std::vector<Box> boxes_;
  std::vector<Frame> frames_;
  std::unordered_map<const Node*, size_t> box_of_;  // of a layer that is not drawn: the box that stands for it
  std::map<size_t, int> lanes_;                     // by the box that a bundle of arrows starts from
  int num_lanes_ = 0, height_ = 0;
};

void Picture::add_boxes() {
  for (const Repetition& r : outline_.repetitions) {
    for (size_t b = r.first; b < r.first + r.period; ++b) {
      const Block& block = outline_.blocks[b];
      const size_t first = boxes_.size();
      for (const Node* node : block.nodes) {
        if (node->op().view) continue;
        box_of_[node] = boxes_.size();
        const NodePlace& place = outline_.places.at(node);
        Box& box = boxes_.emplace_back();
        box.node = node, box.title = node->op().name, box.part = part_of(place);
        const std::string_view last = std::string_view(place.local).substr(place.local.rfind('.') + 1);
        box.place = last.starts_with(node->op().name) ? "" : place.local;
        for (const Field& f : node->attributes().changed_fields())
          box.attributes += (box.attributes.empty() ? "" : ", ") + f.name + "=" + f.text;
        box.attributes = shortened(box.attributes, size_t((kWidth - 2 * kPadding) / kCharacter));
        box.leaves = leaf_lines(*node, block.layer);
      }
      for (size_t other = b + r.period; other < r.first + r.period * r.count; other += r.period)
        for (size_t i = 0; i < block.nodes.size(); ++i)
          if (const auto it = box_of_.find(block.nodes[i]); it != box_of_.end()) box_of_[outline_.blocks[other].nodes[i]] = it->second;
      if (first == boxes_.size() || (block.layer.empty() && r.count == 1)) continue;
      const std::string last = outline_.blocks[b + r.period * (r.count - 1)].layer;
      frames_.push_back({r.count == 1
                             ? block.layer
                             : fmt::format("{} to {}{}", block.layer, last, r.period > 1 ? fmt::format(", every {}", r.period) : ""),
                         r.count == 1 ? "" : fmt::format("\u00d7 {}", r.count), first, boxes_.size() - 1, r.count > 1});
      for (size_t i = first; i < boxes_.size(); ++i) boxes_[i].layer = frames_.size();
    }
  }
}

void Picture::add_outputs() {
  constexpr size_t kMostOutputs = 16;
  size_t shown = 0;
  for (const Graph::Output& o : graph_.outputs()) {
    if (++shown > kMostOutputs) continue;
    Box& box = boxes_.emplace_back();
    box.title = o.name;
    const Value v = viewed(o.value);
    if (v.producer() && box_of_.count(v.producer())) box.from[box_of_.at(v.producer())].push_back(o.value);
    else box.attributes = o.value.type().to_string();
  }
  if (shown > kMostOutputs) boxes_.emplace_back().title = fmt::format("and {} more outputs", shown - kMostOutputs);
}

void Picture::connect() {
  for (size_t b = 0; b < boxes_.size(); ++b) {
    if (!boxes_[b].node) continue;
    std::unordered_set<Value> seen;
    for (const Value& in : boxes_[b].node->inputs()) {
      const Node* made = viewed(in).producer();
      if (made && box_of_.count(made) && box_of_.at(made) < b && seen.insert(in).second) boxes_[b].from[box_of_.at(made)].push_back(in);
    }
  }
}

// A value is named once, on the first arrow that brings it.
void Picture::name_arrows() {
  std::unordered_set<Value> named;
  for (size_t to = 0; to < boxes_.size(); ++to)
    for (const auto& [from, values] : boxes_[to].from) {
      std::vector<std::string>& labels = is_straight(from, to) ? boxes_[to].straight : boxes_[to].side;
      for (const Value& v : values)
        if (named.insert(v).second) labels.push_back(label_of(v));
      if (labels.size() > kMostLabels) {
        labels[kMostLabels - 1] = fmt::format("and {} more values", labels.size() - kMostLabels + 1);
        labels.resize(kMostLabels);
      }
    }
}

// Heights from top to bottom; then a lane for every box whose results are read further down, the shortest reach innermost.
void Picture::arrange() {
  int y = kTop + 18;
  for (size_t b = 0; b < boxes_.size(); ++b) {
    Box& box = boxes_[b];
    const bool enters = box.layer && (b == 0 || boxes_[b - 1].layer != box.layer),
               leaves = b > 0 && boxes_[b - 1].layer && boxes_[b - 1].layer != box.layer;
    if (b > 0) y += kGap + std::max(1, int(box.straight.size() + box.side.size())) * (kLine - 1);
    if (leaves) y += kFramePadding - 8;
    if (enters) y += kFramePadding + 8;
    box.y = y;
    box.height = 2 * kPadding + kLine * (1 + int(box.leaves.size()) + (box.attributes.empty() || !box.node ? 0 : 1)) - 5;
    y += box.height;
  }
  height_ = y + kFramePadding + 24;

  std::map<size_t, size_t> reach;
  for (size_t b = 0; b < boxes_.size(); ++b)
    for (const auto& [from, values] : boxes_[b].from)
      if (!is_straight(from, b)) reach[from] = b;
  std::vector<std::pair<size_t, size_t>> spans(reach.begin(), reach.end());
  std::ranges::stable_sort(spans, [](const auto& a, const auto& b) { return a.second - a.first < b.second - b.first; });
  std::vector<std::vector<std::pair<size_t, size_t>>> taken;
  for (const auto& span : spans) {
    size_t lane = 0;
    const auto overlaps = [&](const auto& other) { return span.first < other.second && other.first < span.second; };
    while (lane < taken.size() && std::ranges::any_of(taken[lane], overlaps)) ++lane;
    if (lane == taken.size()) taken.emplace_back();
    taken[lane].push_back(span);
    lanes_[span.first] = int(lane);
  }
  num_lanes_ = int(taken.size());
}

std::string Picture::frames() const {
  std::string out;
  const int right = kLeft + kWidth + kLane * num_lanes_ + 24, left = kLeft - 44;
  for (const Frame& f : frames_) {
    const int top = boxes_[f.first].y - kFramePadding - 8, height = boxes_[f.last].y + boxes_[f.last].height + kFramePadding - 8 - top;
    for (int behind = f.is_stack ? 2 : 0; behind > 0; --behind)
      out += rect(left + 5 * behind, top + 5 * behind, right - left, height, 12, "class=\"frame\"");
    out += rect(left, top, right - left, height, 12, "class=\"frame\"");
    out += fmt::format("<text x=\"{}\" y=\"{}\" class=\"layer\">{}<tspan class=\"times\"> {}</tspan></text>\n", left + 14, top + 21,
                       escaped(shortened(f.name, 60)), f.times);
  }
  return out;
}

// A bar beside the boxes of one part of a layer.
std::string Picture::parts() const {
  std::string out;
  for (size_t b = 0; b < boxes_.size();) {
    size_t end = b + 1;
    while (end < boxes_.size() && boxes_[end].layer == boxes_[b].layer && boxes_[end].part == boxes_[b].part) ++end;
    if (!boxes_[b].part.empty()) {
      const int top = boxes_[b].y, bottom = boxes_[end - 1].y + boxes_[end - 1].height, x = kLeft - 16;
      const size_t fits = size_t(std::max(4.0, (bottom - top) / kCharacter));
      out += fmt::format("<path d=\"M{0} {1}H{2}V{3}H{0}\" class=\"bar\"/>\n", x + 6, top, x, bottom);
      out += fmt::format("<text transform=\"translate({} {}) rotate(-90)\" class=\"part\">{}</text>\n", x - 7, (top + bottom) / 2,
                         escaped(shortened(boxes_[b].part, fits)));
    }
    b = end;
  }
  return out;
}

std::string Picture::arrows() const {
  const int middle = kLeft + kWidth / 2, right = kLeft + kWidth;
  std::string lines, words;
  for (size_t b = 0; b < boxes_.size(); ++b) {
    if (b > 0 && boxes_[b].from.count(b - 1)) {
      const Box& above = boxes_[b - 1];
      lines += fmt::format("<path d=\"M{} {}V{}\" class=\"arrow\"/>\n", middle, above.y + above.height, boxes_[b].y - 2);
      int y = above.y + above.height + (boxes_[b].layer != above.layer && above.layer ? kFramePadding : 8) + 10;
      for (const std::string& t : boxes_[b].straight) words += text_at(middle + 9, y, "type", t), y += kLine - 1;
    }
    int y = boxes_[b].y - 6 - (kLine - 1) * (int(boxes_[b].side.size()) - 1);
    for (const std::string& t : boxes_[b].side) words += text_at(right - 4, y, "type side", t), y += kLine - 1;
  }
  for (const auto& [from, lane] : lanes_) {
    const int x = right + kLane * (lane + 1), start = boxes_[from].y + boxes_[from].height - 11;
    int last = start;
    for (size_t b = from + 2; b < boxes_.size(); ++b) {
      if (!boxes_[b].from.count(from)) continue;
      const int y = boxes_[b].y + 13;
      lines += fmt::format("<path d=\"M{0} {1}Q{0} {2} {3} {2}H{4}\" class=\"arrow\"/>\n", x, y - 7, y, x - 7, right + 3);
      last = y - 7;
    }
    lines += fmt::format("<path d=\"M{0} {1}H{2}Q{3} {1} {3} {4}V{5}\" class=\"lane\"/>\n", right, start, x - 7, x, start + 7, last);
  }
  return lines + words;
}

std::string Picture::boxes() const {
  std::string out;
  for (const Box& box : boxes_) {
    if (!box.node) {
      out += rect(kLeft, box.y, kWidth, box.height, box.height / 2, "class=\"result\"");
      out += text_at(kLeft + 18, box.y + kPadding + 8, "op", box.title);
      out += text_at(kLeft + 200, box.y + kPadding + 8, "leaf", box.attributes);
      continue;
    }
    const Kind& kind = kind_of(box.title);
    int y = box.y + kPadding + 8;
    out += rect(kLeft, box.y, kWidth, box.height, 6, fmt::format("fill=\"{}\" stroke=\"{}\"", kind.fill, kind.edge));
    out += text_at(kLeft + 12, y, "op", box.title);
    out += fmt::format("<text x=\"{}\" y=\"{}\" class=\"place\">{}</text>\n", kLeft + kWidth - 12, y, escaped(shortened(box.place, 48)));
    if (!box.attributes.empty()) out += text_at(kLeft + 12, y += kLine, "attribute", box.attributes);
    for (const LeafLine& leaf : box.leaves) {
      y += kLine;
      out += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"3.5\" fill=\"{}\"/>\n", kLeft + 16, y - 4, leaf.colour);
      const size_t room = size_t((kWidth - 48) / kCharacter) - std::min<size_t>(leaf.type.size(), 50);
      out += text_at(kLeft + 26, y, "leaf", shortened(leaf.name, std::max<size_t>(room, 12)));
      out += fmt::format("<text x=\"{}\" y=\"{}\" class=\"leaf end\">{}</text>\n", kLeft + kWidth - 12, y, escaped(leaf.type));
    }
  }
  return out;
}

std::string Picture::head() const {
  double parameters = 0, bytes = 0;
  for (const Value& p : graph_.leaves(Leaf::kParameter))
    if (p.shape().is_constant())
      parameters += double(p.shape().numel().value()), bytes += double(storage_bytes(p.dtype(), p.shape().numel().value()));
  std::unordered_set<std::string> layers;
  for (const Block& block : outline_.blocks)
    if (!block.layer.empty()) layers.insert(block.layer);
  size_t steps = 0;
  for (const auto& [node, place] : outline_.places) steps += !node->op().view;
  std::string about = fmt::format("{} ops", steps);
  if (!layers.empty()) about += fmt::format(", {} layers", layers.size());
  if (parameters > 0) about += fmt::format(", {:.4g} M parameters, {}", parameters / 1e6, bytes_text(bytes));
  std::string out = text_at(kLeft - 44, 34, "title", graph_.name()) + text_at(kLeft - 44, 56, "about", about);
  int x = kLeft - 44;
  for (const Kind& kind : kKinds) {
    if (std::ranges::none_of(boxes_, [&](const Box& b) { return b.node && &kind_of(b.title) == &kind; })) continue;
    out += rect(x, 70, 13, 13, 3, fmt::format("fill=\"{}\" stroke=\"{}\"", kind.fill, kind.edge)) + text_at(x + 19, 81, "leaf", kind.name);
    x += 40 + int(std::string_view(kind.name).size() * kCharacter);
  }
  for (const auto& [colour, name] : {std::pair("#3b78b5", "weight"), std::pair("#c0702a", "state"), std::pair("#5a9a45", "input")}) {
    out += fmt::format("<circle cx=\"{}\" cy=\"76\" r=\"3.5\" fill=\"{}\"/>\n", x + 4, colour) + text_at(x + 13, 81, "leaf", name);
    x += 30 + int(std::string_view(name).size() * kCharacter);
  }
  return out;
}

std::string Picture::svg() const {
  const int width = kLeft + kWidth + kLane * num_lanes_ + 60;
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n"
             "<style>\ntext{{font:11px ui-monospace,Menlo,Consolas,\"DejaVu Sans Mono\",monospace;fill:#2b2b28}}\n"
             ".title{{font-size:18px;font-weight:bold}}.about{{font-size:12px;fill:#55554f}}\n"
             ".op{{font-size:12.5px;font-weight:bold}}.place{{fill:#44443f;text-anchor:end}}.attribute{{fill:#6b6b64}}\n"
             ".leaf{{fill:#44443f}}.end{{text-anchor:end}}.side{{text-anchor:end}}.part{{fill:#85857c;text-anchor:middle}}\n"
             ".type{{fill:#55554f}}\n"
             ".layer{{font-size:12px;font-weight:bold;fill:#55554f}}.times{{font-size:15px;fill:#2b2b28}}\n"
             ".frame{{fill:#fbfbf9;stroke:#b5b5ab}}.bar{{fill:none;stroke:#b5b5ab;stroke-width:1.5}}.result{{fill:#fff;stroke:#2b2b28}}\n"
             ".arrow,.lane{{fill:none;stroke:#66665f;stroke-width:1.3}}.arrow{{marker-end:url(#tip)}}\n</style>\n"
             "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\">"
             "<path d=\"M0 0L8 4L0 8z\" fill=\"#66665f\"/></marker></defs>\n<rect width=\"{0}\" height=\"{1}\" fill=\"#fff\"/>\n",
             width, height_) +
         head() + frames() + parts() + arrows() + boxes() + "</svg>\n";
}

}  // namespace

std::string graph_svg(const Graph& graph) { return Picture(graph).svg(); }

}  // namespace headrace
