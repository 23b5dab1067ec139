// Rules applied to a fixed point, over a list of nodes that may match.
#include <algorithm>
#include <deque>
#include <unordered_map>
#include <unordered_set>

#include "core/error.h"
#include "ir/pattern.h"

namespace headrace {
namespace {

// The ops that can stand at the root of a pattern; nothing: any.
void root_ops(const Pattern& pattern, std::vector<std::string>& ops, bool& any_op) {
  const Pattern::Data& p = pattern.data();
  if (p.kind == Pattern::Data::Kind::kOp) ops.push_back(p.op);
  else if (p.kind == Pattern::Data::Kind::kAnyOf)
    for (const Pattern& alternative : p.alternatives) root_ops(alternative, ops, any_op);
  else any_op = true;
}

class Rewriter {
 public:
  Rewriter(Graph& graph, std::span<const Rule> rules, const RewriteOptions& options)
      : graph_(graph), options_(options), left_(options.max_rewrites > 0 ? options.max_rewrites : 64 * int64_t(graph.num_nodes()) + 1000) {
    for (const Rule& rule : rules) ordered_.push_back(&rule);
    std::stable_sort(ordered_.begin(), ordered_.end(), [](const Rule* a, const Rule* b) { return a->benefit > b->benefit; });
    for (const Rule* rule : ordered_) {
      std::vector<std::string> ops;
      bool any_op = false;
      root_ops(rule->pattern, ops, any_op);
      if (any_op) invalid("rule '{}': its pattern begins with any value; an op is wanted", rule->name);
      for (const std::string& name : ops) by_op_[name].push_back(rule);
    }
  }

  int64_t run() {
    for (Node* node : graph_.nodes()) enqueue(node);
    int64_t count = 0;
    while (!queue_.empty()) {
      Node* node = queue_.front();
      queue_.pop_front();
      if (waiting_.erase(node) > 0 && rewrite(*node)) ++count;
    }
    return count;
  }

 private:
  void enqueue(Node* node) {
    if (node && by_op_.count(node->op().name) && waiting_.insert(node).second) queue_.push_back(node);
  }

  bool rewrite(Node& node) {
    for (const Rule* rule : by_op_.at(node.op().name)) {
      std::optional<Match> match = headrace::match(rule->pattern, root_value(*rule, node));
      if (!match) continue;
      if (options_.observer) options_.observer(*rule, *match);
      try {
        if (replace(*rule, node, *match)) return true;
      } catch (const Error& e) {
        graph_.insert_before(nullptr);
        fail(e.code, "rule '{}': {}", rule->name, e.what());
      }
    }
    return false;
  }

  static Value root_value(const Rule& rule, Node& node) {
    const size_t output = size_t(rule.pattern.data().output);
    return node.outputs()[output < node.outputs().size() ? output : 0];
  }

  bool replace(const Rule& rule, Node& node, const Match& match) {
    graph_.insert_before(&node);
    const std::vector<Value> replacements = rule.rewrite(graph_, match);
    graph_.insert_before(nullptr);
    if (replacements.empty()) return false;
    count_down(rule);
    if (replacements.size() != node.outputs().size())
      invalid("{} values for the {} results of {}", replacements.size(), node.outputs().size(), to_text(node));
    for (size_t i = 0; i < replacements.size(); ++i) {
      const Value from = node.outputs()[i], to = replacements[i];
      if (!to || &to.graph() != &graph_) invalid("a replacement of %{} belongs to another graph", from.name());
      if (to.type() != from.type())
        invalid("{} in the place of %{}, which is {}", to.type().to_string(), from.name(), from.type().to_string());
    }
    for (size_t i = 0; i < replacements.size(); ++i) {
      const Value from = node.outputs()[i], to = replacements[i];
      for (Node* user : from.users()) enqueue(user);
      graph_.replace_all_uses(from, to);
      look_at(to);
    }
    // The value keeps its name, by which people know it.
    for (size_t i = 0; i < replacements.size(); ++i) {
      const Value from = node.outputs()[i], to = replacements[i];
      if (to.producer() && is_number(to.name()) && !is_number(from.name())) graph_.rename({from, to}, {"", from.name()});
    }
    erase_dead(node);  // last: when nobody reads the result, the replacements may go too
    return true;
  }

  static bool is_number(const std::string& name) {
    return std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
  }

  // The nodes that lead to a new value, as far as a pattern could look.
  void look_at(Value value) {
    std::vector<Node*> nodes{value.producer()};
    for (size_t i = 0; i < nodes.size() && i < 64; ++i) {
      if (!nodes[i]) continue;
      enqueue(nodes[i]);
      if (i < 8)
        for (const Value& in : nodes[i]->inputs()) nodes.push_back(in.producer());
    }
  }

  // A node without readers goes, and then what only it read.
  void erase_dead(Node& first) {
    std::vector<Node*> nodes{&first};
    while (!nodes.empty()) {
      Node* node = nodes.back();
      nodes.pop_back();
      const auto used = [](const Value& out) { return !out.users().empty() || out.is_output(); };
      if (node->op().writes_state || std::any_of(node->outputs().begin(), node->outputs().end(), used)) continue;
      std::vector<Node*> producers;
      for (const Value& in : node->inputs())
        if (in.producer() && std::find(producers.begin(), producers.end(), in.producer()) == producers.end())
          producers.push_back(in.producer());
      waiting_.erase(node);
      graph_.erase(*node);
      for (Node* producer : producers) {
        nodes.push_back(producer);
        for (const Value& out : producer->outputs())
          for (Node* user : out.users()) enqueue(user);  // it has one reader less, and may match now
      }
      std::sort(nodes.begin(), nodes.end());
      nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    }
  }

  void count_down(const Rule& rule) {
    last_.push_back(rule.name);
    if (last_.size() > 4) last_.pop_front();
    if (--left_ < 0) invalid("there is no end to the rewriting; the last rules were {}", fmt::join(last_, ", "));
  }

  Graph& graph_;
  const RewriteOptions& options_;
  int64_t left_;
  std::vector<const Rule*> ordered_;
  std::unordered_map<std::string, std::vector<const Rule*>> by_op_;
  std::deque<Node*> queue_;
  std::unordered_set<Node*> waiting_;  // nodes of the queue that still exist
  std::deque<std::string> last_;
};

}  // namespace

int64_t apply_rules(Graph& graph, std::span<const Rule> rules, const RewriteOptions& options) {
  return Rewriter(graph, rules, options).run();
}

}  // namespace headrace
