#include "headrace/rewrite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/test_support.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;

struct Axis {
  int64_t axis = -1;
  void fields(auto&& f) { f("axis", axis); }
};

std::shared_ptr<const OpRegistry> test_ops() {
  auto ops = std::make_shared<OpRegistry>();
  const auto same = [](const OpCall& c) { return std::vector<TensorType>{c.input(0)}; };
  ops->add({.name = "add", .min_inputs = 2, .max_inputs = 2, .infer = same, .commutative = true});
  ops->add({.name = "sub", .min_inputs = 2, .max_inputs = 2, .infer = same});
  ops->add({.name = "neg", .min_inputs = 1, .max_inputs = 1, .infer = same});
  ops->add({.name = "sum", .attributes = &attribute_type<Axis>(), .min_inputs = 1, .max_inputs = 1, .infer = same});
  ops->add({.name = "any", .min_inputs = 1, .max_inputs = 9, .infer = same});
  ops->add({.name = "half", .min_inputs = 1, .max_inputs = 1, .infer = [](const OpCall& c) {
              return std::vector<TensorType>{{DType::kF16, c.input(0).shape}};
            }});
  ops->add({.name = "two", .min_inputs = 1, .max_inputs = 1, .infer = [](const OpCall& c) {
              return std::vector<TensorType>{c.input(0), c.input(0)};
            }});
  return ops;
}

Graph parse(const std::string& body) {
  return Graph::parse("graph g { input %x : f32[t] input %y : f32[t] param %w : f32[4] const %one : f32[] = [1] " + body + "}", test_ops());
}
Value result(const Graph& graph) { return graph.outputs()[0].value; }
std::string nodes(const Graph& graph) {
  std::string text;
  for (const Node* node : graph.nodes()) text += to_text(*node) + "; ";
  return text;
}

TEST(Pattern, CapturesValuesNodesAndNumbers) {
  const Graph g = parse("%s = sum(%x) {axis=2} %r = add(%one, %s) return %r");
  const auto m = match(op("add", {op("sum", {any("x")}).as("s"), number("n")}), result(g));
  ASSERT_TRUE(m) << "operands of a commutative op match in any order";
  EXPECT_EQ((*m)["x"].name(), "x");
  EXPECT_EQ(m->node("s").attributes_as<Axis>().axis, 2);
  EXPECT_EQ(m->number("n"), 1);
  EXPECT_EQ(m->nodes().size(), 2u);
  EXPECT_FALSE(m->has("z"));
  EXPECT_THROW((*m)["z"], Error);
  EXPECT_THROW(m->node("x"), Error) << "an input has no node";
  EXPECT_THROW(m->number("x"), Error);
}

TEST(Pattern, OneNameIsOneValue) {
  const Pattern twice = op("sub", {any("a"), any("a")});
  EXPECT_TRUE(match(twice, result(parse("%r = sub(%x, %x) return %r"))));
  EXPECT_FALSE(match(twice, result(parse("%r = sub(%x, %y) return %r"))));
}

TEST(Pattern, TakesBackWhatAFailedAttemptCaptured) {
  // The first order of add's operands gives a = neg(x), which the second operand of sub then contradicts.
  const Graph g = parse("%n = neg(%x) %s = add(%n, %x) %r = sub(%s, %x) return %r");
  const auto m = match(op("sub", {op("add", {any("a"), any("b")}), any("a")}), result(g));
  ASSERT_TRUE(m);
  EXPECT_EQ((*m)["a"].name(), "x");
  EXPECT_EQ((*m)["b"].name(), "n");
}

TEST(Pattern, AlternativesConditionsAndAttributes) {
  const Graph g = parse("%s = sum(%x) {axis=1} %r = neg(%s) return %r");
  const auto matches = [&](const Pattern& p) { return match(op("neg", {p}), result(g)).has_value(); };
  EXPECT_TRUE(matches(any_of({op("add", {any(), any()}), op("sum", {any()})})));
  EXPECT_TRUE(matches(op("sum").with(Axis{1})));
  EXPECT_FALSE(matches(op("sum").with(Axis{0})));
  EXPECT_FALSE(matches(op("sum").where("the last axis", [](const Node& n) { return n.attributes_as<Axis>().axis == -1; })));
  EXPECT_TRUE(matches(any().where_value("f32", [](Value v) { return v.dtype() == DType::kF32; })));
  EXPECT_FALSE(matches(known()));
  EXPECT_FALSE(matches(number(1)));
  EXPECT_TRUE(match(op("two").output(1), result(parse("%a, %b = two(%x) return %b"))));
  EXPECT_FALSE(match(op("two"), result(parse("%a, %b = two(%x) return %b")))) << "the first result unless another is named";
  EXPECT_TRUE(match(op("add", {known("w"), any()}), result(parse("%r = add(%x, %w) return %r"))));
}

TEST(Pattern, LeavesNodesThatOthersReadUnlessTheyMayBeShared) {
  const Pattern strict = op("neg", {op("sum", {any()})}), shared = op("neg", {op("sum", {any()}).or_shared()});
  for (const char* body : {"%s = sum(%x) %r = neg(%s) %o = add(%s, %y) return %r, %o", "%s = sum(%x) %r = neg(%s) return %r, %s"}) {
    const Graph g = parse(body);
    EXPECT_FALSE(match(strict, result(g))) << body;
    EXPECT_TRUE(match(shared, result(g))) << body;
  }
  EXPECT_TRUE(match(op("sub", {op("neg", {any("a")}), op("neg", {any("a")})}), result(parse("%n = neg(%x) %r = sub(%n, %n) return %r"))))
      << "readers within the match are nobody else";
}

TEST(Explain, SaysWhereTheMatchFailed) {
  const Pattern norm = op("sub", {op("add", {op("sum", {any("x")}).with(Axis{1}), number(1)}), any("x")});
  const auto why = [&](const std::string& body) { return explain(norm, result(parse(body))); };
  EXPECT_EQ(why("%s = sum(%x) {axis=1} %a = add(%s, %one) %r = sub(%a, %x) return %r"), "");
  EXPECT_EQ(why("%r = neg(%x) return %r"), "wanted op 'sub', found %r = neg(%x)");
  EXPECT_EQ(why("%s = sum(%x) {axis=1} %a = add(%s, %w) %r = sub(%a, %x) return %r"), "sub -> add: wanted the number 1, found %w : f32[4]");
  EXPECT_EQ(why("%s = sum(%x) %a = add(%s, %one) %r = sub(%a, %x) return %r"),
            "sub -> add: wanted 'sum' with other attributes, found %s = sum(%x)");
  EXPECT_EQ(why("%s = sum(%x) {axis=1} %a = add(%s, %one) %r = sub(%a, %y) return %r"),
            "sub -> add -> sum: wanted %y again, as 'x', found %x : f32[t]");
  EXPECT_EQ(why("%s = sum(%x) {axis=1} %a = add(%s, %one) %r = sub(%a, %x) return %r, %s"), "%s is an output of the graph");
  EXPECT_EQ(why("%s = sum(%x) {axis=1} %a = add(%s, %one) %r = sub(%a, %x) %o = neg(%a) return %r, %o"), "%a is also read by %o = neg(%a)");
}

const Rule kDoubleNegation{"double-negation", op("neg", {op("neg", {any("x")}).or_shared()}),
                           [](Graph&, const Match& m) { return std::vector{m["x"]}; }};
std::vector<Value> emit_neg(Graph& graph, const Match& m) { return {graph.emit("neg", {m["x"]})}; }

TEST(ApplyRules, RunsToAFixedPointAndDropsWhatNobodyReads) {
  Graph g = parse("%a = neg(%x) %b = neg(%a) %c = neg(%b) %d = neg(%c) %r = sum(%d) return %r");
  EXPECT_EQ(apply_rules(g, {&kDoubleNegation, 1}), 2);
  g.verify();
  EXPECT_EQ(nodes(g), "%r = sum(%x); ");
}

TEST(ApplyRules, MarkedValuesAndOtherReadersKeepTheirNodes) {
  Graph g = parse("%a = neg(%x) %b = neg(%a) %r = sum(%b) return %r, %a");
  apply_rules(g, {&kDoubleNegation, 1});
  g.verify();
  EXPECT_EQ(nodes(g), "%a = neg(%x); %r = sum(%x); ");
}

TEST(ApplyRules, TheReplacementTakesTheNameAndStandsWhereTheOldNodeStood) {
  Graph g = parse("%a = sum(%x) %r = add(%a, %y) %o = neg(%r) return %o");
  const Rule rule{"to-sub", op("add", {op("sum", {any("x")}), any("y")}), [](Graph& graph, const Match& m) {
                    return std::vector{graph.emit("sub", {m["x"], m["y"]})};
                  }};
  EXPECT_EQ(apply_rules(g, {&rule, 1}), 1);
  EXPECT_EQ(nodes(g), "%r = sub(%x, %y); %o = neg(%r); ");
}

TEST(ApplyRules, WhatNobodyReadsMayGoWithItsReplacement) {
  Graph g = parse("%0 = add(%x, %y) %n = neg(%0) %dead = neg(%n) return %y");
  EXPECT_EQ(apply_rules(g, {&kDoubleNegation, 1}), 1);
  EXPECT_EQ(nodes(g), "");
  g.verify();
}

TEST(ApplyRules, TheGreaterBenefitComesFirstAndADeclinedMatchGoesToTheNextRule) {
  std::string order;
  const auto rule = [&](const char* name, int benefit, bool declines) {
    return Rule{name, op("sum", {any("x")}),
                [&order, name, declines](Graph& graph, const Match& m) {
                  order += name;
                  return declines ? std::vector<Value>() : emit_neg(graph, m);
                },
                benefit};
  };
  const Rule rules[] = {rule("a", 1, false), rule("b", 3, true), rule("c", 2, true), rule("d", 2, false)};
  Graph g = parse("%r = sum(%x) return %r");
  EXPECT_EQ(apply_rules(g, rules), 1);
  EXPECT_EQ(order, "bcd");
}

TEST(ApplyRules, MistakesOfRulesAreErrorsThatNameThem) {
  const auto error = [](const Rule& rule, const std::string& body, const RewriteOptions& options = {}) {
    Graph g = parse(body);
    const std::string message = test::error_of([&] { apply_rules(g, {&rule, 1}, options); });
    g.verify();  // whatever happened, the graph is whole
    return message;
  };
  const std::string body = "%r = sum(%x) %o = neg(%r) return %o";
  const Pattern sum = op("sum", {any("x")});
  EXPECT_THAT(error({"type", sum, [](Graph& g, const Match& m) { return std::vector{g.emit("half", {m["x"]})}; }}, body),
              HasSubstr("rule 'type': f16[t] in the place of %r, which is f32[t]"));
  EXPECT_THAT(error({"count", sum,
                     [](Graph&, const Match& m) {
                       return std::vector{m["x"], m["x"]};
                     }},
                    body),
              HasSubstr("rule 'count': 2 values for the 1 results"));
  EXPECT_THAT(error({"empty", sum, [](Graph&, const Match&) { return std::vector{Value()}; }}, body), HasSubstr("another graph"));
  Graph other = parse("return %x");
  EXPECT_THAT(error({"foreign", sum, [&](Graph&, const Match&) { return std::vector{result(other)}; }}, body), HasSubstr("another graph"));
  EXPECT_THAT(error({"later", sum, [](Graph&, const Match& m) { return std::vector{m.root().users()[0]->output()}; }}, body),
              HasSubstr("produced by that node itself"));
  EXPECT_THAT(error({"behind", sum, [](Graph& g, const Match& m) { return std::vector{g.emit("neg", {m.root()})}; }}, body),
              HasSubstr("behind the place of insertion"));
  EXPECT_THAT(error({"for-ever", sum, [](Graph& g, const Match& m) { return std::vector{g.emit("sum", {m["x"]})}; }}, body),
              HasSubstr("no end to the rewriting; the last rules were for-ever"));
  EXPECT_THAT(
      error({"bound", sum, [](Graph& g, const Match& m) { return std::vector{g.emit("sum", {m["x"]})}; }}, body, {.max_rewrites = 3}),
      HasSubstr("no end"));
  EXPECT_THAT(error({"anything", any(), emit_neg}, body), HasSubstr("an op is wanted"));
}

TEST(ApplyRules, RulesThatAskForOneReaderTryAgainWhenAnotherReaderGoes) {
  const Rule rules[] = {kDoubleNegation, {"sum-of-neg", op("sum", {op("neg", {any("x")})}), emit_neg}};
  // %a is read by %b as well, until %b's reader reads %x.
  Graph g = parse("%a = neg(%x) %r = sum(%a) %b = neg(%a) %o = add(%b, %r) return %o");
  apply_rules(g, rules);
  g.verify();
  EXPECT_EQ(nodes(g), "%r = neg(%x); %o = add(%x, %r); ");
}

TEST(ApplyRules, TakesTimeThatGrowsWithTheGraphAlone) {
  std::string body;
  for (int i = 0; i < 20000; ++i) body += "%n" + std::to_string(i) + " = neg(%" + (i ? "n" + std::to_string(i - 1) : "x") + ")\n";
  Graph g = parse(body + "return %n19999");
  EXPECT_EQ(apply_rules(g, {&kDoubleNegation, 1}), 10000);
  EXPECT_EQ(g.num_nodes(), 0);
}

}  // namespace
}  // namespace headrace
