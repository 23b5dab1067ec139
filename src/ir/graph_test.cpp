#include "headrace/graph.h"

#include <gtest/gtest.h>

#include "core/test_support.h"

namespace headrace {
namespace {

struct Scale {
  float by = 1;
  std::string note;
  std::vector<int64_t> list;
  void fields(auto&& f) { f("by", by), f("note", note), f("list", list); }
};

std::shared_ptr<const OpRegistry> test_ops() {
  auto ops = std::make_shared<OpRegistry>();
  const auto same = [](const OpCall& c) {
    for (const TensorType& t : c.inputs) c.want(t == c.input(0), "operands of one type are wanted");
    return std::vector<TensorType>{c.input(0)};
  };
  ops->add({.name = "add", .min_inputs = 2, .max_inputs = 2, .infer = same});
  const auto nothing = [](const OpCall&, std::span<const Tensor>, std::span<const Tensor>) {};
  ops->add({.name = "sum", .min_inputs = 1, .max_inputs = 2, .infer = same, .reference = nothing});
  ops->add({.name = "scale", .attributes = &attribute_type<Scale>(), .min_inputs = 1, .max_inputs = 1, .infer = same});
  ops->add({.name = "two", .min_inputs = 1, .max_inputs = 1, .infer = [](const OpCall& c) {
              return std::vector<TensorType>{c.input(0), c.input(0)};
            }});
  ops->add({.name = "write",
            .min_inputs = 2,
            .max_inputs = 2,
            .infer = [](const OpCall& c) { return std::vector<TensorType>{c.input(0)}; },
            .writes_state = true});
  return ops;
}

const TensorType kRow{DType::kF32, {Dim::symbol("tokens"), 4}};

TEST(Graph, PrintsToTextAndParsesBackUnchanged) {
  Graph g(test_ops(), "g");
  const Value x = g.input("x", kRow), w = g.parameter("layers.0.weight", kRow), odd = g.parameter("odd name \"q\"", kRow);
  const float values[] = {0.5f, 1e-5f, -3, 1.0f / 3};
  const Value c = g.constant(HostTensor(DType::kF32, {4}, std::span<const float>(values)), "c");
  const Value s = g.emit("scale", Scale{.by = 0.1f, .note = "a \"b\"\\\n", .list = {1, -2}}, {g.emit("add", {x, w})});
  g.rename(s, "scaled");
  const std::vector<Value> two = g.emit_all("two", {}, {g.emit("add", {s, odd})});
  g.mark_output(two[1], "y");
  g.mark_output(c, "constant");
  g.verify();
  const std::string text = g.to_text();
  EXPECT_EQ(Graph::parse(text, test_ops()).to_text(), text);
  EXPECT_EQ(g.clone().to_text(), text) << "a clone is the same graph";
}

TEST(Graph, ResultsOfOneNodeMayHaveNumbersForNames) {  // those that the graph itself would give them, in another order
  for (const char* names : {"%1, %2", "%1, %0", "%2, %1"}) {
    const std::string text =
        "graph g {\n  input %x : f32[4]\n  " + std::string(names) + " = two(%x) : f32[4], f32[4]\n  return %1 as \"y\"\n}\n";
    EXPECT_EQ(Graph::parse(text, test_ops()).to_text(), text);
  }
}

TEST(Graph, UsersFollowEveryRewrite) {
  Graph g(test_ops());
  const Value x = g.input("x", kRow);
  const Value a = g.emit("add", {x, x}), b = g.emit("scale", {a}), c = g.emit("add", {a, b});
  g.mark_output(c, "c");
  EXPECT_EQ(a.users().size(), 2u);
  g.insert_before(b.producer());
  const Value d = g.emit("scale", {x});
  g.replace_all_uses(a, d);
  g.verify();
  EXPECT_TRUE(a.users().empty());
  EXPECT_EQ(d.users().size(), 2u);
  EXPECT_EQ(g.remove_dead(), 1);
  g.verify();
  EXPECT_EQ(g.num_nodes(), 3);
  EXPECT_THROW(g.erase(*b.producer()), Error) << "it is still in use";
}

TEST(Graph, WhatIsKnownAtLoadFollowsEveryRewrite) {
  Graph g(test_ops());
  const TensorType four{DType::kF32, {4}};
  const Value w = g.parameter("w", four), x = g.input("x", four);
  const Value a = g.emit("sum", {w, w}), b = g.emit("sum", {a, x}), c = g.emit("sum", {b, a}), d = g.emit("sum", {c});
  g.mark_output(d, "d");
  const auto expect_known = [&](const std::vector<std::pair<Value, bool>>& values) {
    g.verify();
    for (const auto& [value, known] : values) EXPECT_EQ(value.is_known_at_load(), known) << value.name();
  };
  expect_known({{w, true}, {x, false}, {a, true}, {b, false}, {c, false}, {d, false}});
  g.set_input(*b.producer(), 1, w);
  expect_known({{b, true}, {c, true}, {d, true}});
  g.replace_all_uses(w, x);
  expect_known({{a, false}, {b, false}, {c, false}, {d, false}});
  EXPECT_FALSE(g.emit("add", {w, w}).is_known_at_load()) << "the op has no reference to compute it with";
  const Value wide = g.parameter("wide", kRow);
  EXPECT_FALSE(g.emit("sum", {wide}).is_known_at_load()) << "of unknown size";
}

TEST(Graph, DeadNodesGoButEffectsAndMarkedValuesStay) {
  Graph g(test_ops());
  const Value x = g.input("x", kRow), s = g.state("s", kRow), p = g.parameter("p", kRow);
  g.emit("add", {x, p});
  g.emit("write", {x, s});
  g.mark_output(g.emit("scale", {x}), "marked");
  EXPECT_EQ(g.remove_dead(), 1);
  EXPECT_EQ(g.num_nodes(), 2);
  EXPECT_FALSE(g.find(Leaf::kParameter, "p"));
  EXPECT_TRUE(g.find(Leaf::kState, "s"));
}

TEST(Graph, MistakesAreErrorsThatNameTheOpAndTheTypes) {
  Graph g(test_ops()), other(test_ops());
  const Value x = g.input("x", kRow), y = g.input("y", {DType::kF16, {4}});
  EXPECT_EQ(test::error_of([&] { g.emit("add", {x, y}); }), "add(f32[tokens, 4], f16[4]): operands of one type are wanted");
  EXPECT_NE(test::error_of([&] { g.emit("add", {x}); }).find("wants 2 operands, has 1"), std::string::npos);
  EXPECT_NE(test::error_of([&] { g.emit("nope", {x}); }).find("no op 'nope'"), std::string::npos);
  EXPECT_NE(test::error_of([&] { g.emit("scale", {other.input("x", kRow)}); }).find("another graph"), std::string::npos);
  EXPECT_NE(test::error_of([&] { g.input("x", {DType::kF16, {1}}); }).find("declared as f32[tokens, 4]"), std::string::npos);
  EXPECT_EQ(g.num_nodes(), 0) << "a failed emit leaves nothing behind";
  g.verify();
}

TEST(Graph, TheParserAnswersGarbageWithALineNumber) {
  const char* cases[] = {"",
                         "graph",
                         "graph g",
                         "graph g {",
                         "graph g { input %x }",
                         "graph g { input %x : f99[1] }",
                         "graph g { input %x : f32[1",
                         "graph g { %y = add(%x, %x) }",
                         "graph g { input %x : f32[2]\n input %x : f32[2] }",
                         "graph g { input %x : f32[2]\n %y = nope(%x) }",
                         "graph g { input %x : f32[2]\n %y = scale(%x) {by=abc} }",
                         "graph g { input %x : f32[2]\n %y = scale(%x) {what=1} }",
                         "graph g { input %x : f32[2]\n %y, %z = scale(%x) }",
                         "graph g { input %x : f32[2]\n %y = scale(%x) : f32[3] }",
                         "graph g { const %c : f32[3] = [1, 2] }",
                         "graph g { const %c : f32[4611686018427387904, 8] = [] }",
                         "graph g { const %c : i32[1] = [4294967296] }",
                         "graph g { const %c : i32[1] = [0.5] }",
                         "graph g { } x",
                         "graph g { input %\"x : f32[1] }",
                         "graph g { input %x : q8_0[3]\n const %c : q8_0[1] = [1] }"};
  for (const char* text : cases) {
    const std::string message = test::error_of([&] { Graph::parse(text, test_ops()); });
    EXPECT_NE(message.find("graph text, line "), std::string::npos) << text << ": " << message;
  }
}

TEST(Graph, NodesRememberTheLineThatMadeThemAndErrorsNameIt) {
  Graph g(test_ops(), "g");
  const Value x = g.input("x", kRow), other = g.input("other", {DType::kF32, {4}});
  const auto here = std::source_location::current();
  const Value y = g.emit("add", {}, {x, x}, here);
  EXPECT_EQ(y.producer()->where().line(), here.line());
  EXPECT_EQ(g.clone().nodes()[0]->where().line(), here.line());
  const std::string message = test::error_of([&] { g.emit("add", {}, {x, other}, here); });
  EXPECT_NE(message.find("add(f32[tokens, 4], f32[4])"), std::string::npos) << message;
  EXPECT_NE(message.find("(at graph_test.cpp:" + std::to_string(here.line()) + ")"), std::string::npos) << message;
}

TEST(Graph, MistakenLeavesAndOutputsNameTheLineToo) {
  Graph g(test_ops(), "g"), other(test_ops(), "other");
  const Value x = g.input("x", kRow), foreign = other.input("foreign", kRow);
  const auto error_at = [](const std::source_location& where, auto body) {
    const std::string message = test::error_of(body), place = " (at graph_test.cpp:" + std::to_string(where.line()) + ")";
    EXPECT_TRUE(message.ends_with(place)) << message << " should end with" << place;
    return message.substr(0, message.size() - std::min(message.size(), place.size()));
  };
  const auto here = [](std::source_location where = std::source_location::current()) { return where; };
  EXPECT_EQ(error_at(here(), [&] { g.mark_output(Value(), "y"); }), "output 'y': the Value is empty");
  EXPECT_EQ(error_at(here(), [&] { g.mark_output(foreign, "y"); }), "output 'y': 'foreign' belongs to another graph");
  g.mark_output(x, "y");
  EXPECT_EQ(error_at(here(), [&] { g.mark_output(x, "y"); }), "graph 'g' already has an output 'y'");
  EXPECT_EQ(error_at(here(),
                     [&] {
                       g.input("x", {DType::kF16, {1}});
                     }),
            "'x' was declared as f32[tokens, 4] and is now declared as f16[1]");
  EXPECT_EQ(error_at(here(), [&] { g.parameter("x", kRow); }), "the name 'x' is taken by another kind of value");
  EXPECT_EQ(error_at(here(), [&] { g.state("", kRow); }), "an input, parameter or state needs a name");
}

TEST(Graph, AnEmptyValueIsAnErrorNotACrash) {
  const Value empty;
  EXPECT_NE(test::error_of([&] { empty.shape(); }).find("empty Value"), std::string::npos);
  EXPECT_THROW(empty.graph(), Error);
  EXPECT_THROW(empty.users(), Error);
  EXPECT_THROW(empty.producer(), Error);
}

TEST(Graph, KnowsTheOrderOfNodesWhereverTheyWereInserted) {
  Graph g(test_ops(), "g");
  const Value x = g.input("x", kRow);
  Node* last = g.emit("add", {x, x}).producer();
  for (int i = 0; i < 100; ++i) {  // always at one place, so that numbers between run out
    g.insert_before(last);
    g.emit("add", {x, x});
    g.insert_after(*g.nodes()[0]);
    g.emit("add", {x, x});
    g.insert_before(nullptr);
  }
  const std::vector<Node*> nodes = g.nodes();
  for (size_t i = 1; i < nodes.size(); ++i)
    ASSERT_TRUE(g.is_before(*nodes[i - 1], *nodes[i]) && !g.is_before(*nodes[i], *nodes[i - 1])) << i;
  EXPECT_EQ(nodes.back(), last);
}

TEST(Graph, AReaderCanBeLeftOutWhenUsesAreReplaced) {  // how something is put behind a value
  Graph g(test_ops(), "g");
  const Value x = g.input("x", kRow), y = g.emit("scale", {x}), z = g.emit("scale", {y});
  g.mark_output(y, "y");
  g.insert_after(*y.producer());
  const Value behind = g.emit("add", {y, y});
  g.insert_before(nullptr);
  g.replace_all_uses(y, behind, [&](const Node& reader) { return &reader == behind.producer(); });
  g.verify();
  EXPECT_EQ(z.producer()->input(0), behind);
  EXPECT_EQ(g.outputs()[0].value, behind);
  EXPECT_EQ(behind.producer()->input(1), y);
}

// An attribute of a type of its own: braces hold any text, one level of braces within.
struct Note {
  std::string text = "{}";
  std::string to_text() const { return text; }
  static Note from_text(std::string_view text) { return {std::string(text)}; }
};
struct Noted {
  Note note;
  void fields(auto&& f) { f("note", note); }
};

TEST(Graph, AttributesInBracesKeepTheirText) {
  auto ops = std::make_shared<OpRegistry>();
  ops->add({.name = "noted", .attributes = &attribute_type<Noted>(), .min_inputs = 1, .max_inputs = 1, .infer = [](const OpCall& c) {
              return std::vector<TensorType>{c.input(0)};
            }});
  const std::string body = "{ a {b=\"}\"} c }";
  const Graph g = Graph::parse("graph g { input %x : f32[1] %y = noted(%x) {note=" + body + "} return %y }", ops);
  EXPECT_EQ(g.nodes()[0]->attributes_as<Noted>().note.text, body);
  EXPECT_EQ(Graph::parse(g.to_text(), ops).to_text(), g.to_text());
  for (const char* bad : {"{ {{ }} }", "{ \"}", "{ {} "})
    EXPECT_THROW(Graph::parse("graph g { input %x : f32[1] %y = noted(%x) {note=" + std::string(bad) + "} return %y }", ops), Error) << bad;
}

TEST(Attributes, OnlyChangedFieldsArePrinted) {
  EXPECT_TRUE(Attributes(Scale{}).changed_fields().empty());
  EXPECT_EQ(Attributes(Scale{.by = 2}).changed_fields().size(), 1u);
  EXPECT_EQ(Attributes(Scale{.by = 2}), Attributes(Scale{.by = 2}));
  EXPECT_FALSE(Attributes(Scale{.by = 2}) == Attributes(Scale{}));
}

}  // namespace
}  // namespace headrace
