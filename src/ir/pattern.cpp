// Patterns and how they match: a list of goals ("this pattern at this value"), solved with backtracking.
#include "ir/pattern.h"

#include <algorithm>
#include <cmath>

#include "core/dtype.h"
#include "core/error.h"

namespace headrace {

using Data = Pattern::Data;

Pattern make_pattern(Data data) {
  Pattern pattern;
  pattern.data_ = std::make_shared<const Data>(std::move(data));
  return pattern;
}

namespace {

template <typename Change>
Pattern changed(const Pattern& pattern, Change&& change) {
  Data data = pattern.data();
  change(data);
  return make_pattern(std::move(data));
}

// The only element of a constant, or of nothing else.
std::optional<double> number_of(Value value) {
  if (value.leaf() != Leaf::kConstant || value.constant().view().numel() != 1 || is_block(value.dtype())) return std::nullopt;
  const Tensor& t = value.constant();
  return dispatch(t.dtype, [&]<typename T>() {
    if constexpr (std::is_arithmetic_v<T>) return double(t.as<T>()[0]);
    else return double(float(t.as<T>()[0]));
  });
}

double rounded_to(DType dtype, double number) {
  return dispatch(dtype, [&]<typename T>() {
    if constexpr (std::is_arithmetic_v<T>) return double(T(number));
    else return double(float(T(float(number))));
  });
}

}  // namespace

Pattern Pattern::as(std::string name) const {
  return changed(*this, [&](Data& d) { d.name = std::move(name); });
}
Pattern Pattern::with(Attributes attributes) const {
  return changed(*this, [&](Data& d) { d.attributes = std::move(attributes); });
}
Pattern Pattern::where(std::string wanted, std::function<bool(const Node&)> predicate) const {
  return changed(*this, [&](Data& d) { d.conditions.push_back({std::move(wanted), std::move(predicate), {}}); });
}
Pattern Pattern::where_value(std::string wanted, std::function<bool(Value)> predicate) const {
  return changed(*this, [&](Data& d) { d.conditions.push_back({std::move(wanted), {}, std::move(predicate)}); });
}
Pattern Pattern::or_shared() const {
  return changed(*this, [](Data& d) { d.shared = true; });
}
Pattern Pattern::output(int index) const {
  return changed(*this, [&](Data& d) { d.output = index; });
}

Pattern any(std::string name) { return make_pattern({.name = std::move(name)}); }
Pattern known(std::string name) { return make_pattern({.kind = Data::Kind::kKnown, .name = std::move(name)}); }
Pattern number(std::string name) { return make_pattern({.kind = Data::Kind::kNumber, .name = std::move(name)}); }
Pattern number(double value) { return make_pattern({.kind = Data::Kind::kNumber, .number = value}); }
Pattern op(std::string name) { return make_pattern({.kind = Data::Kind::kOp, .op = std::move(name)}); }
Pattern op(std::string name, std::vector<Pattern> operands) {
  return make_pattern({.kind = Data::Kind::kOp, .op = std::move(name), .operands = std::move(operands)});
}
Pattern any_of(std::vector<Pattern> alternatives) {
  return make_pattern({.kind = Data::Kind::kAnyOf, .alternatives = std::move(alternatives)});
}

// One attempt. Goals stand on a stack; what was captured since a choice is taken back when the choice fails.
class Matcher {
 public:
  // With `why`, failures are described there.
  Matcher(const Pattern& pattern, Value value, std::string* why) : why_(why) {
    goals_.push_back({&pattern.data(), value, -1});
    match_.root_ = value;
    matches_ = solve();
  }
  bool matches() const { return matches_; }
  Match take() { return std::move(match_); }

 private:
  struct Goal {
    const Data* pattern;
    Value value;
    int parent;  // for people: which op of path_ has it for an operand; -1: none
  };

  bool solve() {
    if (next_ == goals_.size()) return nobody_else_reads();
    const Goal goal = goals_[next_];
    const Data& p = *goal.pattern;
    const size_t captured = match_.captures_.size(), matched = match_.nodes_.size(), open = goals_.size();
    const auto go_on = [&] {
      ++next_;
      if (solve()) return true;
      --next_;
      return false;
    };
    if (satisfies(goal) && capture(goal)) {
      if (p.kind == Data::Kind::kAnyOf) {
        for (const Pattern& alternative : p.alternatives) {
          goals_[next_].pattern = &alternative.data();
          if (solve()) return true;
          goals_[next_] = goal;
        }
      } else if (p.kind != Data::Kind::kOp) {
        if (go_on()) return true;
      } else {
        Node* node = goal.value.producer();
        match_.nodes_.push_back(node);
        shared_.push_back(p.shared);
        if (!p.operands) {
          if (go_on()) return true;
        } else {
          for (const bool swapped : {false, true}) {
            if (swapped && (!node->op().commutative || node->inputs().size() != 2)) break;
            path_.push_back(goal);
            for (size_t i = 0; i < p.operands->size(); ++i)
              goals_.push_back({&(*p.operands)[i].data(), node->input(int(swapped ? 1 - i : i)), int(path_.size()) - 1});
            if (go_on()) return true;
            goals_.resize(open);
            path_.pop_back();
          }
        }
      }
    }
    match_.captures_.resize(captured);
    match_.nodes_.resize(matched);
    shared_.resize(matched);
    goals_.resize(open);
    return false;
  }

  bool satisfies(const Goal& goal) {
    const Data& p = *goal.pattern;
    const Value v = goal.value;
    switch (p.kind) {
      case Data::Kind::kAny:
      case Data::Kind::kAnyOf: break;
      case Data::Kind::kKnown:
        if (!v.is_known_at_load()) return failed(goal, "something known at load");
        break;
      case Data::Kind::kNumber: {
        const std::optional<double> found = number_of(v);
        if (!found) return failed(goal, p.number ? fmt::format("the number {}", *p.number) : "a number");
        if (p.number && *found != rounded_to(v.dtype(), *p.number)) return failed(goal, fmt::format("the number {}", *p.number));
        break;
      }
      case Data::Kind::kOp: {
        const Node* node = v.producer();
        if (!node || node->op().name != p.op) return failed(goal, fmt::format("op '{}'", p.op));
        if (v.output_index() != p.output) return failed(goal, fmt::format("result {} of '{}'", p.output, p.op));
        if (p.operands && p.operands->size() != node->inputs().size())
          return failed(goal, fmt::format("'{}' with {} operands", p.op, p.operands->size()));
        if (p.attributes && *p.attributes != node->attributes()) return failed(goal, fmt::format("'{}' with other attributes", p.op));
        break;
      }
    }
    for (const Data::Condition& c : p.conditions)
      if (c.of_value ? !c.of_value(v) : !v.producer() || !c.of_node(*v.producer())) return failed(goal, c.wanted);
    return true;
  }

  bool capture(const Goal& goal) {
    const std::string& name = goal.pattern->name;
    if (name.empty()) return true;
    for (const auto& [other, value] : match_.captures_)
      if (other == name) return value == goal.value || failed(goal, fmt::format("%{} again, as '{}'", value.name(), name));
    match_.captures_.push_back({name, goal.value});
    return true;
  }

  bool nobody_else_reads() {
    const auto& nodes = match_.nodes_;
    const auto in_match = [&](const Node* user) { return std::find(nodes.begin(), nodes.end(), user) != nodes.end(); };
    for (size_t i = 1; i < nodes.size(); ++i) {
      if (shared_[i] || nodes[i] == nodes[0]) continue;
      for (const Value& out : nodes[i]->outputs()) {
        if (out.is_output()) return failed_at_end(fmt::format("%{} is an output of the graph", out.name()));
        for (const Node* user : out.users())
          if (!in_match(user)) return failed_at_end(fmt::format("%{} is also read by {}", out.name(), to_text(*user)));
      }
    }
    return true;
  }

  // Both return false. The attempt that satisfied most goals is the one that people hear of.
  bool failed(const Goal& goal, const std::string& wanted) {
    if (why_ && next_ >= furthest_) {
      std::string ops;
      for (int i = goal.parent; i >= 0; i = path_[size_t(i)].parent) ops = path_[size_t(i)].pattern->op + (ops.empty() ? "" : " -> ") + ops;
      const Node* node = goal.value.producer();
      const std::string found = node ? to_text(*node) : fmt::format("%{} : {}", goal.value.name(), goal.value.type().to_string());
      *why_ = fmt::format("{}{}wanted {}, found {}", ops, ops.empty() ? "" : ": ", wanted, found);
      furthest_ = next_ + 1;
    }
    return false;
  }
  bool failed_at_end(const std::string& what) {
    if (why_) *why_ = what, furthest_ = goals_.size() + 1;
    return false;
  }

  std::string* why_;
  size_t furthest_ = 0;
  std::vector<Goal> goals_;
  size_t next_ = 0;           // the first goal that is not solved yet
  std::vector<Goal> path_;    // op patterns whose operands are among the goals
  std::vector<bool> shared_;  // of each matched node
  Match match_;
  bool matches_ = false;
};

std::optional<Match> match(const Pattern& pattern, Value value) {
  Matcher matcher(pattern, value, nullptr);
  return matcher.matches() ? std::optional(matcher.take()) : std::nullopt;
}

std::string explain(const Pattern& pattern, Value value) {
  std::string why;
  return Matcher(pattern, value, &why).matches() ? "" : why;
}

bool Match::has(std::string_view name) const {
  return std::any_of(captures_.begin(), captures_.end(), [&](const auto& c) { return c.first == name; });
}

Value Match::operator[](std::string_view name) const {
  for (const auto& [captured, value] : captures_)
    if (captured == name) return value;
  fail(ErrorCode::kNotFound, "the match has no value '{}'", name);
}

Node& Match::node(std::string_view name) const {
  Node* node = (*this)[name].producer();
  if (!node) fail(ErrorCode::kNotFound, "the matched value '{}' is no node's", name);
  return *node;
}

double Match::number(std::string_view name) const {
  const std::optional<double> number = number_of((*this)[name]);
  if (!number) fail(ErrorCode::kNotFound, "the matched value '{}' is no number", name);
  return *number;
}

}  // namespace headrace
