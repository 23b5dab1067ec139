#include <gtest/gtest.h>

#include "drawing/folded_text.h"
#include "drawing/graph_svg.h"
#include "drawing/outline.h"
#include "drawing/places.h"
#include "drawing/size_text.h"
#include "ops/ops.h"

namespace headrace {
namespace {

Graph parse(const std::string& body) { return Graph::parse("graph g {\n" + body + "\n}", builtin_ops()); }

std::vector<std::string> paths(const std::string& body) {
  const Graph graph = parse(body);
  const auto places = node_places(graph);
  std::vector<std::string> paths;
  for (const Node* node : graph.nodes()) paths.push_back(places.count(node) ? places.at(node).layer + " | " + places.at(node).local : "-");
  return paths;
}

TEST(Places, FollowFromTheWeightsThatANodeUses) {
  EXPECT_EQ(
      paths(R"(
      input %x : f32[n, 8]
      param %m.layers.0.norm.weight : f32[8]
      param %m.layers.0.attn.q.weight : f32[8, 8]
      param %m.layers.0.attn.k.weight : f32[8, 8]
      param %m.layers.0.mlp.up.weight : f32[8, 8]
      %r = relu(%x)
      %t = permute(%m.layers.0.mlp.up.weight) {axes=[1, 0]}
      %a = fused_linear(%x, %m.layers.0.norm.weight, %m.layers.0.attn.q.weight, %m.layers.0.attn.k.weight) {num_weights=2, norm=rms}
      %b = slice(%a) {axis=-1, end=8}
      %c = slice(%a) {axis=-1, begin=8}
      %d = add(%b, %c)
      %u = linear(%d, %t)
      %s = silu(%u)
      %y = add(%s, %x)
      return %y)"),
      (std::vector<std::string>{" | relu", "-", "m.layers.0 | attn.fused_linear", "m.layers.0 | attn.slice", "m.layers.0 | attn.slice_2",
                                "m.layers.0 | attn.add", "m.layers.0 | mlp.up", "m.layers.0 | mlp.silu", "m.layers.0 | mlp.add"}));
}

TEST(Places, OutsideOfLayersOutputsHaveTheirOwnNames) {
  EXPECT_EQ(paths(" input %x : f32[n, 8]\n param %embed.weight : f32[9, 8]\n %a = linear(%x, %embed.weight)\n %y = relu(%a)\n"
                  " %z = linear(%x, %embed.weight)\n return %y, %z as \"logits\""),
            (std::vector<std::string>{" | embed", " | y", " | logits"}));
}

TEST(Places, AreDifferentForAllNodes) {
  EXPECT_EQ(paths(" input %x : f32[n, 8]\n %a = relu(%x)\n %b = relu(%a)\n %c = relu(%b)\n return %c as \"relu_2\""),
            (std::vector<std::string>{" | relu", " | relu_2", " | relu_2_2"}));
}

// Layers of a norm and a product each, one of them another.
Graph layers(int count, int odd_one = -1, const std::string& end = "") {
  std::string body = " input %x : f32[n, 8]\n", last = "%x";
  for (int i = 0; i < count; ++i) {
    const std::string n = std::to_string(i);
    body += " param %m.layers." + n + ".norm.weight : f32[8]\n param %m.layers." + n + ".mlp.up.weight : f32[8, 8]\n state %s." + n +
            " : f32[8]\n %a" + n + " = rms_norm(" + last + ", %m.layers." + n + ".norm.weight)\n %b" + n + " = linear(%a" + n +
            ", %m.layers." + n + ".mlp.up.weight)\n %c" + n + " = " + (i == odd_one ? "relu" : "silu") + "(%b" + n + ")\n";
    last = "%c" + n;
  }
  return parse(body + end + " return " + last + " as \"y<1>\"");
}

std::vector<std::string> told(const Outline& outline) {
  std::vector<std::string> told;
  for (const Repetition& r : outline.repetitions)
    told.push_back(outline.blocks[r.first].layer + " " + std::to_string(r.period) + "x" + std::to_string(r.count));
  return told;
}

TEST(Outline, EqualLayersInARowAreToldOnce) {
  EXPECT_EQ(told(outline_of(layers(5))), (std::vector<std::string>{"m.layers.0 1x4", "m.layers.4 1x1"}))
      << "the last one's result is returned";
  EXPECT_EQ(told(outline_of(layers(6, 2))),
            (std::vector<std::string>{"m.layers.0 1x2", "m.layers.2 1x1", "m.layers.3 1x2", "m.layers.5 1x1"}));
  EXPECT_EQ(told(outline_of(layers(1))), (std::vector<std::string>{"m.layers.0 1x1"}));
}

TEST(Outline, WhatFollowsFromInputsAloneComesFirst) {
  const Graph graph = parse(
      " input %x : f32[n, 8]\n param %layers.0.a.weight : f32[8, 8]\n %h = linear(%x, %layers.0.a.weight)\n %t = silu(%x)\n"
      " %y = add(%h, %t)\n return %y");
  const Outline outline = outline_of(graph);
  ASSERT_EQ(outline.blocks.size(), 2u);
  EXPECT_EQ(outline.blocks[0].nodes[0]->op().name, "silu");
  EXPECT_EQ(outline.blocks[1].nodes.size(), 2u) << "the layer is not cut in two";
}

TEST(Repetitions, OfSeveralKindsThatTakeTurns) {
  const auto found = [](const std::string& letters) {
    std::vector<std::string> items;
    for (char c : letters) items.emplace_back(1, c);
    std::string text;
    for (const Repetition& r : find_repetitions(items)) text += letters.substr(r.first, r.period) + std::to_string(r.count) + " ";
    return text;
  };
  EXPECT_EQ(found("eaaaaz"), "e1 a4 z1 ");
  EXPECT_EQ(found("ababab"), "ab3 ");
  EXPECT_EQ(found("aabaabz"), "aab2 z1 ");
  EXPECT_EQ(found(""), "");
  EXPECT_EQ(found("abc"), "a1 b1 c1 ");
}

TEST(FoldedText, PrintsRepeatedLayersOnceAndSaysSo) {
  const std::string text = folded_text(layers(5));
  EXPECT_NE(text.find("# m.layers.1 to m.layers.3: the same, 9 nodes\n"), std::string::npos) << text;
  EXPECT_NE(text.find("%m.layers.0.mlp.up.weight"), std::string::npos);
  EXPECT_NE(text.find("%m.layers.4.mlp.up.weight"), std::string::npos);
  EXPECT_EQ(text.find("layers.2."), std::string::npos) << text;
  EXPECT_NE(text.find("return %c4"), std::string::npos);
  const Graph two = layers(2);
  EXPECT_EQ(folded_text(two), two.to_text()) << "nothing repeats";
}

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++n;
  return n;
}

TEST(Picture, DrawsEachLayerOnceWithTypesAndBytesOnArrows) {
  const std::string svg = graph_svg(layers(5));
  EXPECT_EQ(count(svg, ">rms_norm</text>"), 2u) << "one for four layers, one for the last";
  EXPECT_NE(svg.find("m.layers.0 to m.layers.3"), std::string::npos);
  EXPECT_NE(svg.find("\u00d7 4"), std::string::npos);
  EXPECT_NE(svg.find("f32[n, 8] \u00b7 32 B \u00d7 n"), std::string::npos);
  EXPECT_NE(svg.find("y&lt;1&gt;"), std::string::npos) << "names are text, not markup";
  EXPECT_EQ(svg, graph_svg(layers(5)));
  EXPECT_EQ(count(svg, "<svg"), count(svg, "</svg>"));
  EXPECT_EQ(count(svg, "<text"), count(svg, "</text>"));
}

TEST(Picture, ViewsAreNotDrawn) {
  const std::string svg =
      graph_svg(parse(" input %x : f32[n, 8]\n %a = silu(%x)\n %s = slice(%a) {axis=-1, end=4}\n %y = relu(%s)\n return %y"));
  EXPECT_EQ(svg.find(">slice<"), std::string::npos);
  EXPECT_NE(svg.find("f32[n, 4]"), std::string::npos) << "but what they make is on the arrow";
}

TEST(SizeText, IsShortAndKeepsSymbols) {
  EXPECT_EQ(bytes_text(999), "999 B");
  EXPECT_EQ(bytes_text(663552), "664 kB");
  EXPECT_EQ(bytes_text(2304), "2.3 kB");
  EXPECT_EQ(bytes_text(TensorType{DType::kF32, {Dim::symbol("tokens"), 576}}), "2.3 kB \u00d7 tokens");
  EXPECT_EQ(bytes_text(TensorType{DType::kQ8_0, {32, 2}}), "68 B");
  EXPECT_EQ(bytes_text(TensorType{DType::kI32, {Dim::symbol("sequences") + 1}}), "") << "no product";
}

}  // namespace
}  // namespace headrace
