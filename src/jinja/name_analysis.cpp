#include "jinja/name_analysis.h"

#include <map>

#include "core/error.h"
#include "jinja/template_error.h"

namespace headrace::jinja {

using namespace ast;

namespace {

// The names that a scope knows, and whether the context's value is hidden.
struct Names {
  const Names* outer = nullptr;
  std::map<int, bool> is_unset;

  bool knows(int id) const {
    for (const Names* names = this; names; names = names->outer)
      if (names->is_unset.count(id)) return true;
    return false;
  }
  void load(int id) {
    if (!knows(id)) is_unset.emplace(id, false);
  }
  void declare(int id) { is_unset[id] = false; }
  // What is assigned in an if only may still be the value from outside.
  void store(int id, bool is_conditional) { is_unset.emplace(id, !is_conditional && !knows(id)); }
};

class Analysis {
 public:
  explicit Analysis(std::string_view name) : name_(name) {}

  void run(ScopedBody& body) { finish(Names{}, body); }

 private:
  // ---- the names of one scope; inner scopes wait until it is complete

  void read(Names& names, const ExpressionPtr& e) {
    if (!e) return;
    line_ = e->line;
    std::visit([&](const auto& node) { read_node(names, node); }, e->node);
  }
  void read(Names& names, const std::vector<ExpressionPtr>& list) {
    for (const auto& e : list) read(names, e);
  }
  void read(Names& names, const Arguments& arguments) {
    read(names, arguments.positional);
    for (const auto& [key, e] : arguments.named) read(names, e);
    read(names, arguments.star);
    read(names, arguments.double_star);
  }

  void read_node(Names&, const Literal&) {}
  void read_node(Names&, const StringLiteral&) {}
  void read_node(Names& names, const Name& e) { names.load(e.id); }
  void read_node(Names& names, const Sequence& e) { read(names, e.items); }
  void read_node(Names& names, const Dictionary& e) {
    for (const auto& [key, value] : e.items) read(names, key), read(names, value);
  }
  void read_node(Names& names, const Attribute& e) { read(names, e.object); }
  void read_node(Names& names, const Item& e) { read(names, e.object), read(names, e.key); }
  void read_node(Names& names, const Slice& e) { read(names, e.object), read(names, e.start), read(names, e.stop), read(names, e.step); }
  void read_node(Names& names, const Call& e) { read(names, e.callee), read(names, e.arguments); }
  void read_node(Names& names, const Filter& e) {
    if (!e.function && !is_conditional_) unknown("filter", e.name);
    read(names, e.operand), read(names, e.arguments);
  }
  void read_node(Names& names, const Test& e) {
    if (!e.function && !is_conditional_) unknown("test", e.name);
    read(names, e.operand), read(names, e.arguments);
  }
  void read_node(Names& names, const Unary& e) { read(names, e.operand); }
  void read_node(Names& names, const Binary& e) { read(names, e.left), read(names, e.right); }
  void read_node(Names& names, const Logical& e) { read(names, e.left), read(names, e.right); }
  void read_node(Names& names, const Concatenation& e) { read(names, e.items); }
  void read_node(Names& names, const Compare& e) {
    read(names, e.first);
    for (const auto& [op, operand] : e.rest) read(names, operand);
  }
  void read_node(Names& names, const Conditional& e) {
    const bool outside = std::exchange(is_conditional_, true);
    read(names, e.test), read(names, e.yes), read(names, e.no);
    is_conditional_ = outside;
  }

  [[noreturn]] void unknown(std::string_view what, const std::string& name) const {
    throw TemplateError(ErrorCode::kInvalidArgument, name_, line_, fmt::format("there is no {} named '{}'", what, printable(name)));
  }

  void store(Names& names, const Target& target) {
    if (target.name >= 0) target.attribute.empty() ? names.store(target.name, is_conditional_) : names.load(target.name);
    for (const Target& part : target.targets) store(names, part);
  }
  void declare(Names& names, const Target& target) {
    if (target.name >= 0) names.declare(target.name);
    for (const Target& part : target.targets) declare(names, part);
  }

  void collect(Names& names, const Body& body) {
    for (const Statement& statement : body) {
      line_ = statement.line;
      std::visit([&](const auto& node) { collect_node(names, node); }, statement.node);
    }
  }
  void collect_node(Names&, const PlainText&) {}
  void collect_node(Names& names, const Output& s) { read(names, s.items); }
  void collect_node(Names& names, const If& s) {
    const bool outside = std::exchange(is_conditional_, true);
    for (const Branch& branch : s.branches) read(names, branch.test), collect(names, branch.body);
    collect(names, s.otherwise);
    is_conditional_ = outside;
  }
  void collect_node(Names& names, const For& s) { read(names, s.items); }
  void collect_node(Names& names, const Set& s) { read(names, s.value), store(names, s.target); }
  void collect_node(Names& names, const SetBlock& s) { store(names, s.target); }
  void collect_node(Names& names, const MacroDefinition& s) { names.store(s.macro->name, is_conditional_); }
  void collect_node(Names& names, const CallBlock& s) { read(names, s.call); }
  void collect_node(Names& names, const FilterBlock& s) { read(names, s.filter); }
  void collect_node(Names& names, const With& s) {
    for (const auto& [target, value] : s.values) read(names, value);
  }
  void collect_node(Names&, const Scoped&) {}
  void collect_node(Names&, const Autoescape&) {}
  void collect_node(Names&, const Break&) {}
  void collect_node(Names&, const Continue&) {}

  // ---- scopes inside scopes

  // `names` may hold parameters of the body already.
  void finish(Names names, ScopedBody& body) {
    is_conditional_ = false;
    collect(names, body.statements);
    for (const auto& [id, is_unset] : names.is_unset)
      if (is_unset) body.unset.push_back(id);
    descend(names, body.statements);
  }

  void descend(const Names& names, Body& body) {
    for (Statement& statement : body) std::visit([&](auto& node) { descend_node(names, node); }, statement.node);
  }
  template <typename Node>
  void descend_node(const Names&, Node&) {}
  void descend_node(const Names& names, If& s) {
    for (Branch& branch : s.branches) descend(names, branch.body);
    descend(names, s.otherwise);
  }
  void descend_node(const Names& names, For& s) {
    Names inner{&names, {}};
    declare(inner, s.target);
    if (s.filter) {
      Names filter = inner;
      is_conditional_ = false;
      read(filter, s.filter);
    }
    finish(inner, s.body);
    finish(Names{&names, {}}, s.otherwise);
  }
  void descend_node(const Names& names, SetBlock& s) {
    if (s.filter) {
      Names inner{&names, {}};
      read(inner, s.filter);
    }
    finish(Names{&names, {}}, s.body);
  }
  void descend_macro(const Names& names, Macro& macro) {
    Names inner{&names, {}};
    for (const int parameter : macro.signature.names) inner.declare(parameter);
    is_conditional_ = false;
    read(inner, macro.signature.defaults);
    finish(inner, macro.body);
  }
  void descend_node(const Names& names, MacroDefinition& s) { descend_macro(names, *s.macro); }
  void descend_node(const Names& names, CallBlock& s) { descend_macro(names, *s.caller); }
  void descend_node(const Names& names, FilterBlock& s) { finish(Names{&names, {}}, s.body); }
  void descend_node(const Names& names, With& s) {
    Names inner{&names, {}};
    for (const auto& [target, value] : s.values) declare(inner, target);
    finish(inner, s.body);
  }
  void descend_node(const Names& names, Scoped& s) { finish(Names{&names, {}}, s.body); }
  void descend_node(const Names& names, Autoescape& s) { finish(Names{&names, {}}, s.body); }

  const std::string_view name_;
  int line_ = 1;
  bool is_conditional_ = false;
};

}  // namespace

void analyze_names(Tree& tree, std::string_view name) { Analysis(name).run(tree.body); }

}  // namespace headrace::jinja
