#include "random_graphs/shrink.h"

#include <algorithm>
#include <regex>
#include <set>

#include "core/error.h"
#include "headrace/functional.h"

namespace headrace::fuzzing {
namespace {

using Lines = std::vector<std::string>;

Lines lines_of(const std::string& text) {
  Lines lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::string joined(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

bool begins(const std::string& line, const std::string& word) { return line.rfind("  " + word + " ", 0) == 0; }
bool is_leaf(const std::string& line) { return begins(line, "input") || begins(line, "param") || begins(line, "const"); }

// Types of results follow from operands; without them in the text an edit need not keep them right.
Lines without_result_types(const Case& graph) {
  Lines lines = lines_of(graph.to_text());
  for (std::string& line : lines)
    if (const size_t colon = line.rfind(" : "); begins(line, "") == false && line.rfind("  %", 0) == 0 && colon != line.npos)
      line.resize(colon);
  return lines;
}

class Shrinker {
 public:
  Shrinker(Case graph, const std::function<bool(const Case&)>& fails) : best_(std::move(graph)), fails_(fails) {}

  Case run() {
    mark_dead_ends();  // for what fails may be a node that no output needs
    bool smaller = true;
    while (smaller) {
      smaller = false;
      for (const auto step : {&Shrinker::drop_outputs, &Shrinker::erase_nodes, &Shrinker::return_operands, &Shrinker::cut_nodes,
                              &Shrinker::bypass_nodes, &Shrinker::drop_unread, &Shrinker::shrink_symbols, &Shrinker::shrink_sizes,
                              &Shrinker::drop_attributes, &Shrinker::plain_leaves})
        smaller |= (this->*step)();
    }
    return std::move(best_);
  }

 private:
  // Takes the candidate if it is a graph and fails: without its dead nodes, or with them.
  bool accept(Case candidate) {
    Case alive = candidate.clone();
    alive.graph.remove_dead();
    const bool all_alive = alive.to_text() == candidate.to_text();
    return accept_as_is(std::move(alive)) || (!all_alive && accept_as_is(std::move(candidate)));
  }

  bool accept_as_is(Case candidate) {
    try {
      candidate.graph.infer_types();
      candidate.graph.verify();
    } catch (const Error&) {
      return false;
    }
    if (candidate.to_text() == best_.to_text() || !fails_(candidate)) return false;
    best_ = std::move(candidate);
    return true;
  }

  bool accept_text(const std::string& text) {
    try {
      return accept(Case::parse(text));
    } catch (const Error&) {
      return false;
    }
  }

  // Tries edit(candidate, i) for i from the count down; false from edit: there is nothing to try.
  template <typename Edit>
  bool try_each(int count, const Edit& edit) {
    bool changed = false;
    for (int i = count - 1; i >= 0; --i) {
      Case candidate = best_.clone();
      try {
        if (edit(candidate, i)) changed |= accept(std::move(candidate));
      } catch (const Error&) {
      }
    }
    return changed;
  }

  void mark_dead_ends() {
    Case marked = best_.clone();
    for (const Node* node : marked.graph.nodes())
      for (const Value& out : node->outputs())
        if (out.users().empty() && !out.is_output()) marked.graph.mark_output(out, "dead_" + out.name());
    accept(std::move(marked));
  }

  // A copy of the graph that returns other values.
  static void set_outputs(Case& graph, const std::vector<Graph::Output>& outputs) {
    Lines lines = lines_of(graph.to_text());
    std::erase_if(lines, [](const std::string& line) { return begins(line, "return"); });
    graph = Case::parse(joined(lines));
    for (const Graph::Output& o : outputs) {
      Value same;
      for (const Leaf kind : {Leaf::kInput, Leaf::kParameter, Leaf::kConstant})
        if (!same) same = graph.graph.find(kind, o.value.name());
      for (const Node* node : graph.graph.nodes())
        for (const Value& out : node->outputs())
          if (out.name() == o.value.name()) same = out;
      graph.graph.mark_output(same, o.name);
    }
  }

  bool drop_outputs() {
    bool changed = try_each(int(best_.graph.outputs().size()), [&](Case& c, int i) {
      if (best_.graph.outputs().size() < 2 || i >= int(best_.graph.outputs().size())) return false;
      set_outputs(c, {best_.graph.outputs()[size_t(i)]});
      return true;
    });
    return changed | try_each(int(best_.graph.outputs().size()), [&](Case& c, int i) {
             std::vector<Graph::Output> outputs = best_.graph.outputs();
             if (outputs.size() < 2 || i >= int(outputs.size())) return false;
             outputs.erase(outputs.begin() + i);
             set_outputs(c, outputs);
             return true;
           });
  }

  // Nodes that nobody reads.
  bool erase_nodes() {
    return try_each(best_.graph.num_nodes(), [](Case& c, int i) {
      if (i >= c.graph.num_nodes()) return false;
      Node& node = *c.graph.nodes()[size_t(i)];
      for (const Value& out : node.outputs())
        if (!out.users().empty() || out.is_output()) return false;
      c.graph.erase(node);
      return true;
    });
  }

  // Instead of a node's result, what it reads.
  bool return_operands() {
    bool changed = false;
    for (bool again = true; again;) {
      again = false;
      for (size_t o = 0; o < best_.graph.outputs().size() && !again; ++o) {
        const Node* node = best_.graph.outputs()[o].value.producer();
        for (int i = 0; node && i < int(node->inputs().size()) && !again; ++i) {
          std::vector<Graph::Output> outputs = best_.graph.outputs();
          outputs[o].value = node->input(i);
          Case candidate = best_.clone();
          try {
            set_outputs(candidate, outputs);
            again = accept(std::move(candidate));
          } catch (const Error&) {
          }
        }
      }
      changed |= again;
    }
    return changed;
  }

  // A node's results become inputs.
  bool cut_nodes() {
    bool changed = false;
    for (const char* kind : {"x", "positive", "mask"})
      changed |= try_each(best_.graph.num_nodes(), [&](Case& c, int i) {
        if (i >= c.graph.num_nodes()) return false;
        const Node* node = c.graph.nodes()[size_t(i)];
        for (const Value& out : node->outputs()) {
          if (out.users().empty() && !out.is_output()) continue;
          if (out.users().empty()) return false;  // nothing would be left of it
          std::string name = kind;
          while (c.graph.find(Leaf::kInput, name) || best_.to_text().find("%" + name + " ") != std::string::npos) name += "_";
          c.graph.replace_all_uses(out, c.graph.input(name, out.type()));
        }
        return true;
      });
    return changed;
  }

  bool bypass_nodes() {
    bool changed = false;
    for (int operand = 0; operand < 3; ++operand)
      changed |= try_each(best_.graph.num_nodes(), [&](Case& c, int i) {
        if (i >= c.graph.num_nodes()) return false;
        const Node* node = c.graph.nodes()[size_t(i)];
        if (operand >= int(node->inputs().size()) || node->input(operand).type() != node->output().type()) return false;
        c.graph.replace_all_uses(node->output(), node->input(operand));
        return true;
      });
    return changed;
  }

  // Inputs that nobody reads.
  bool drop_unread() {
    bool changed = false;
    std::vector<std::string> names;
    for (const Value& input : best_.graph.leaves(Leaf::kInput)) names.push_back(input.name());
    for (const std::string& name : names) {
      Lines lines = lines_of(best_.to_text());
      std::erase_if(lines, [&](const std::string& line) { return line.rfind("  input %" + name + " ", 0) == 0; });
      changed |= accept_text(joined(lines));
    }
    return changed;
  }

  bool shrink_symbols() {
    bool changed = false;
    const SymbolValues symbols = best_.symbols;
    for (const auto& [name, value] : symbols) {
      if (best_.graph.to_text().find(name) == std::string::npos) {
        Case candidate = best_.clone();
        candidate.symbols.erase(name);
        changed |= accept(std::move(candidate));
        continue;
      }
      changed |= replace_words({{name, std::to_string(value)}});
      for (const int64_t smaller : {int64_t{1}, int64_t{2}, value / 2, value - 1}) {
        if (!best_.symbols.count(name) || smaller < 0 || smaller >= best_.symbols.at(name)) continue;
        Case candidate = best_.clone();
        candidate.symbols[name] = smaller;
        changed |= accept(std::move(candidate));
      }
    }
    return changed;
  }

  // Everywhere in the graph but in data; what the words stand for follows.
  bool replace_words(const std::map<std::string, std::string>& words) {
    static const std::regex word("[%A-Za-z0-9_.]+");
    Lines lines = without_result_types(best_);
    for (std::string& line : lines) {
      if (line.empty() || line[0] == '#') continue;
      const size_t data = begins(line, "const") ? line.find(" = ") : line.npos;
      if (data != line.npos) continue;
      std::string out;
      auto last = line.cbegin();
      for (std::sregex_iterator it(line.begin(), line.end(), word), end; it != end; ++it) {
        out.append(last, line.cbegin() + it->position());
        const auto found = words.find(it->str());
        out += found == words.end() ? it->str() : found->second;
        last = line.cbegin() + it->position() + it->length();
      }
      line = out.append(last, line.cend());
    }
    return accept_text(joined(lines));
  }

  std::set<int64_t> sizes() const {
    std::set<int64_t> sizes;
    for (const Leaf kind : {Leaf::kInput, Leaf::kParameter})
      for (const Value& v : best_.graph.leaves(kind))
        for (const Dim& d : v.shape().dims())
          if (d.is_constant() && d.value() > 1) sizes.insert(d.value());
    return sizes;
  }

  bool shrink_sizes() {
    bool changed = false;
    const std::set<int64_t> all = sizes();
    for (auto it = all.rbegin(); it != all.rend(); ++it)
      for (const int64_t smaller : {int64_t{1}, int64_t{2}, *it / 2, *it - 1}) {
        if (smaller < 1 || smaller >= *it) continue;
        std::map<std::string, std::string> one{{std::to_string(*it), std::to_string(smaller)}}, multiples;
        for (int64_t k = 1; k <= 8; ++k) multiples[std::to_string(*it * k)] = std::to_string(smaller * k);
        if (replace_words(multiples) || replace_words(one)) {
          changed = true;
          break;
        }
      }
    return changed;
  }

  bool drop_attributes() {
    bool changed = false;
    const size_t count = without_result_types(best_).size();
    for (size_t i = 0; i < count; ++i) {
      for (bool again = true; again;) {
        again = false;
        const Lines lines = without_result_types(best_);
        if (i >= lines.size()) break;
        const size_t open = lines[i].find('{'), close = lines[i].rfind('}');
        if (lines[i].rfind("  %", 0) != 0 || open == std::string::npos) break;
        // Without all of them; else without one, which ends where a bracket is not open.
        std::vector<std::string> candidates{lines[i].substr(0, open)};
        int depth = 0;
        for (size_t begin = open + 1, at = begin; at <= close; ++at) {
          if (lines[i][at] == '[' || lines[i][at] == '{') ++depth;
          if (lines[i][at] == ']' || (lines[i][at] == '}' && at != close)) --depth;
          if (at != close && (lines[i][at] != ',' || depth > 0)) continue;
          std::string shorter = lines[i];
          shorter.erase(begin, at - begin + (at != close));
          if (shorter.find("{ }") == std::string::npos && shorter.find("{}") == std::string::npos) candidates.push_back(shorter);
          begin = at + 1;
        }
        for (const std::string& candidate : candidates) {
          Lines edited = lines;
          edited[i] = candidate;
          if ((again = accept_text(joined(edited)))) break;
        }
        changed |= again;
      }
    }
    return changed;
  }

  // f32 inputs instead of parameters, constants and other types.
  bool plain_leaves() {
    static const std::regex leaf("  (input|param|const) (%[^ ]+) : ([a-z0-9_]+)(\\[[^\\]]*\\]).*");
    bool changed = false;
    const size_t count = without_result_types(best_).size();
    for (size_t i = 0; i < count; ++i)
      for (const char* form : {"  input $2 : f32$4", "  input $2 : $3$4"}) {
        Lines lines = without_result_types(best_);
        if (i >= lines.size() || !is_leaf(lines[i]) || !std::regex_match(lines[i], leaf)) break;
        lines[i] = std::regex_replace(lines[i], leaf, form);
        changed |= accept_text(joined(lines));
      }
    return changed;
  }

  Case best_;
  const std::function<bool(const Case&)>& fails_;
};

}  // namespace

Case shrink(Case graph, const std::function<bool(const Case&)>& fails) { return Shrinker(std::move(graph), fails).run(); }

}  // namespace headrace::fuzzing
