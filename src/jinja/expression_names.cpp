// Names, where they are read and where they are assigned to.
#include "jinja/expression_building.h"

namespace headrace::jinja {

using namespace ast;

namespace {

bool is_constant_name(std::string_view name) {
  return name == "true" || name == "True" || name == "false" || name == "False" || name == "none" || name == "None";
}

bool* flag(MacroUses& uses, std::string_view name) {
  return name == "caller" ? &uses.caller : name == "varargs" ? &uses.varargs : name == "kwargs" ? &uses.kwargs : nullptr;
}

}  // namespace

int ExpressionParser::intern(const std::string& name) {
  const auto [at, is_new] = ids_.try_emplace(name, int(tree_.names.size()));
  if (is_new) tree_.names.push_back(name);
  return at->second;
}

void ExpressionParser::note_assignment(const std::string& name) {
  for (Uses& macro : uses)
    if (bool* hidden = flag(macro.hidden, name)) *hidden = true;
}

ExpressionPtr ExpressionParser::parse_primary_name() {
  const Token token = stream_.next();
  if (token.text == "true" || token.text == "True") return make(token.line, Literal{true});
  if (token.text == "false" || token.text == "False") return make(token.line, Literal{false});
  if (is_constant_name(token.text)) return make(token.line, Literal{});
  for (Uses& macro : uses)
    if (bool* used = flag(macro.used, token.text); used && !*flag(macro.hidden, token.text)) *used = true;
  return make(token.line, Name{intern(token.text)});
}

int ExpressionParser::parse_name() {
  const std::string name = stream_.expect(TokenKind::kName, "a name").text;
  if (is_constant_name(name)) stream_.error(fmt::format("cannot assign to '{}'", name));
  return intern(name);
}

Target ExpressionParser::parse_single_target(bool with_namespace) {
  const Level level(*this);
  Target target;
  target.line = stream_.line();
  if (stream_.take_symbol("(")) {
    target = parse_targets({}, with_namespace);
    stream_.expect_symbol(")");
    return target;
  }
  target.name = parse_name();
  if (with_namespace && stream_.take_symbol(".")) {
    target.attribute = stream_.expect(TokenKind::kName, "the name of an attribute").text;
  } else {
    note_assignment(tree_.names[size_t(target.name)]);
  }
  return target;
}

Target ExpressionParser::parse_targets(std::string_view stop, bool with_namespace) {
  Target tuple;
  tuple.line = stream_.line();
  bool is_tuple = false;
  while (!at_tuple_end(stop)) {
    tuple.targets.push_back(parse_single_target(with_namespace));
    if (!stream_.take_symbol(",")) break;
    is_tuple = true;
  }
  if (is_tuple) return tuple;
  if (tuple.targets.empty()) stream_.unexpected("a name to assign to");
  return std::move(tuple.targets[0]);
}

Target ExpressionParser::parse_target(std::string_view stop) { return parse_targets(stop, false); }
Target ExpressionParser::parse_namespace_target() { return parse_targets({}, true); }

}  // namespace headrace::jinja
