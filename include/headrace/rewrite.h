// Rewriting graphs by rules: patterns as data, what they captured, what is to stand in their place.
//
//   using namespace headrace;
//   const Pattern x = any("x"), square = any_of({op("square", {x}), op("mul", {x, x})});
//   const Rule rule{"sqrt-of-square", op("sqrt", {square}), [](Graph& graph, const Match& m) {
//                     return std::vector{graph.emit("abs", {m["x"]})};
//                   }};
//   apply_rules(graph, {&rule, 1});
//
// For walking a graph by hand see graph.h: Value::producer and users, Node::inputs, Graph::insert_before, replace_all_uses, erase.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headrace/graph.h"

namespace headrace {

// What leads to a value: an op with patterns for its operands, a number, or anything. A value itself; copies are cheap.
//
// The nodes of a match, but for the last, would go when it is replaced. So nobody else may read them, nor may they be marked outputs,
// unless the pattern says or_shared().
class Pattern {
 public:
  // The matched value's name in the Match. Where one name stands twice, both must be the same value.
  Pattern as(std::string name) const;
  // Of an op pattern: the node has these attributes, or satisfies the predicate; `wanted` completes "wanted ..." for people.
  Pattern with(Attributes attributes) const;
  Pattern where(std::string wanted, std::function<bool(const Node&)> predicate) const;
  // Of any pattern.
  Pattern where_value(std::string wanted, std::function<bool(Value)> predicate) const;
  // The node may have other readers; it stays for them.
  Pattern or_shared() const;
  // The value is this result of the op, not its first.
  Pattern output(int index) const;

  struct Data;
  const Data& data() const { return *data_; }

 private:
  friend Pattern make_pattern(Data data);
  std::shared_ptr<const Data> data_;
};

Pattern any(std::string name = "");    // any value
Pattern known(std::string name = "");  // one that is known before the program runs: a weight, a constant, or computed from such
Pattern number(std::string name);      // a constant with one element: Match::number has it
Pattern number(double value);          // that constant, as its type rounds it
// A node of this op. Operands match in order; those of a commutative op (OpDef::commutative) in any order. Without operands: any.
Pattern op(std::string name, std::vector<Pattern> operands);
Pattern op(std::string name);
Pattern any_of(std::vector<Pattern> alternatives);  // the first that matches

// What a pattern matched.
class Match {
 public:
  Value root() const { return root_; }
  // By the name given in the pattern. operator[], node and number throw Error(kNotFound) for a name without a value.
  Value operator[](std::string_view name) const;
  bool has(std::string_view name) const;
  Node& node(std::string_view name) const;                    // that produces the value
  double number(std::string_view name) const;                 // of a constant with one element
  const std::vector<Node*>& nodes() const { return nodes_; }  // all that patterns of ops matched, the root's first

 private:
  friend class Matcher;
  Value root_;
  std::vector<std::pair<std::string, Value>> captures_;
  std::vector<Node*> nodes_;
};

std::optional<Match> match(const Pattern& pattern, Value value);
// Why it does not match, of the attempt that came furthest: "add -> rsqrt -> mean: wanted op 'mean', found %3 = sum(%2)". Empty if it does.
std::string explain(const Pattern& pattern, Value value);

struct Rule {
  std::string name;
  Pattern pattern;
  // Emits the values that take the place of the matched node's results, one for each; none: the match is left as it is. Nodes are
  // inserted where the matched node stands.
  std::function<std::vector<Value>(Graph& graph, const Match& match)> rewrite;
  int benefit = 1;  // rules that match the same node are tried in this order, the greatest first, then as listed
};

struct RewriteOptions {
  int64_t max_rewrites = 0;                                 // 0: 64 for each node of the graph as it was, and 1,000 more
  std::function<void(const Rule&, const Match&)> observer;  // before each rewriting
};

// Applies rules until none matches, and returns how often one did. Nodes that a rewriting leaves without readers go. Throws
// Error(kInvalidArgument), naming the rule, when a replacement has another type or does not stand before its readers, and when there is
// no end to it.
int64_t apply_rules(Graph& graph, std::span<const Rule> rules, const RewriteOptions& options = {});

}  // namespace headrace
