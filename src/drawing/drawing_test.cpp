#include <gtest/gtest.h>

#include "drawing/places.h"
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

}  // namespace
}  // namespace headrace
