#include <gtest/gtest.h>

#include "compiler/passes/passes.h"
#include "ops/ops.h"

namespace headrace {
namespace {

constexpr char kLeaves[] = R"(
  input %q : i8[tokens, 3, 8]
  input %p : i8[tokens, 3, 8]
  input %one : f32[]
  input %axis1 : f32[3]
  input %zero1 : i8[3]
  input %token : f32[tokens, 1, 1]
)";

std::string moved(const std::string& body) {
  Graph graph = Graph::parse("graph g {" + std::string(kLeaves) + body + "\n return %r }", builtin_ops());
  move_dequantize(graph, {});
  graph.verify();
  std::string out, text;
  const Graph copy = graph.clone();
  for (const Node* node : copy.nodes()) out += (out.empty() ? "" : "; ") + to_text(*node);
  return out;
}

TEST(MoveDequantize, BehindTranspositions) {
  EXPECT_EQ(moved("%d = dequantize(%q, %one) %r = permute(%d) {axes=[2, 0, -2]}"),
            "%0 = permute(%q) {axes=[2, 0, 1]}; %r = dequantize(%0, %one)");
  EXPECT_EQ(moved("%d = dequantize(%q, %axis1, %zero1) {axis=1} %r = permute(%d) {axes=[1, 0, 2]}"),
            "%0 = permute(%q) {axes=[1, 0, 2]}; %r = dequantize(%0, %axis1, %zero1) {axis=0}");
  EXPECT_EQ(moved("%d = dequantize(%q, %token) %r = permute(%d) {axes=[1, 0, 2]}"),
            "%0 = permute(%q) {axes=[1, 0, 2]}; %1 = permute(%token) {axes=[1, 0, 2]}; %r = dequantize(%0, %1)");
}

TEST(MoveDequantize, BehindSlices) {
  EXPECT_EQ(
      moved("%d = dequantize(%q, %axis1, %zero1) {axis=1} %r = slice(%d) {axis=1, begin=1}"),
      "%0 = slice(%q) {axis=1, begin=1}; %1 = slice(%axis1) {begin=1}; %2 = slice(%zero1) {begin=1}; %r = dequantize(%0, %1, %2) {axis=1}");
  EXPECT_EQ(moved("%d = dequantize(%q, %axis1) {axis=-2} %r = slice(%d) {axis=-1, end=4}"),
            "%0 = slice(%q) {axis=2, end=4}; %r = dequantize(%0, %axis1) {axis=1}");
  EXPECT_EQ(moved("%d = dequantize(%q, %token) %r = slice(%d) {axis=2, end=4}"),
            "%0 = slice(%q) {axis=2, end=4}; %r = dequantize(%0, %token)");
}

TEST(MoveDequantize, BehindViewsAndConcatenationsOfOneScale) {
  EXPECT_EQ(moved("%d = dequantize(%q, %one) %r = view(%d) {shape=[tokens, 24]}"),
            "%0 = view(%q) {shape=[tokens, 24]}; %r = dequantize(%0, %one)");
  EXPECT_EQ(moved("%d = dequantize(%q, %one) %e = dequantize(%p, %one) %r = concat(%d, %e) {axis=1}"),
            "%0 = concat(%q, %p) {axis=1}; %r = dequantize(%0, %one)");
}

TEST(MoveDequantize, LeavesAlone) {
  for (const char* body :
       {"%d = dequantize(%q, %axis1) {axis=1} %r = view(%d) {shape=[tokens, 24]}",
        "%d = dequantize(%q, %one) %e = dequantize(%p, %axis1) {axis=1} %r = concat(%d, %e)", "%d = dequantize(%q, %one) %r = neg(%d)"})
    EXPECT_EQ(moved(body).find("dequantize(%q"), moved(body).find("dequantize(")) << body;
  EXPECT_NE(moved("%d = dequantize(%q, %one) %r = permute(%d) {axes=[2, 0, 1]} return %d").find("%r = permute(%d)"), std::string::npos)
      << "a marked value";
  EXPECT_NE(
      moved(
          "%d = dequantize(%q, %one) %p1 = permute(%d) {axes=[2, 0, 1]} %n = neg(%d) %n1 = permute(%n) {axes=[2, 0, 1]} %r = add(%p1, %n1)")
          .find("= permute(%d)"),
      std::string::npos)
      << "another reader";
}

}  // namespace
}  // namespace headrace
