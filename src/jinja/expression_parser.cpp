#include "jinja/expression_parser.h"

#include <charconv>
#include <cstdlib>

#include "core/error.h"
#include "jinja/filters/filters.h"
#include "jinja/tests.h"

namespace headrace::jinja {

using namespace ast;

namespace {

int height_of(const ExpressionPtr& e) { return e ? e->height : 0; }

int height_of(const std::vector<ExpressionPtr>& list) {
  int height = 0;
  for (const auto& e : list) height = std::max(height, height_of(e));
  return height;
}

int height_of(const Arguments& arguments) {
  int height = std::max({height_of(arguments.positional), height_of(arguments.star), height_of(arguments.double_star)});
  for (const auto& [name, e] : arguments.named) height = std::max(height, height_of(e));
  return height;
}

bool is_constant_name(std::string_view name) {
  return name == "true" || name == "True" || name == "false" || name == "False" || name == "none" || name == "None";
}

bool* flag(MacroUses& uses, std::string_view name) {
  return name == "caller" ? &uses.caller : name == "varargs" ? &uses.varargs : name == "kwargs" ? &uses.kwargs : nullptr;
}

}  // namespace

// One level of brackets, signs or conditions deeper.
class Level {
 public:
  explicit Level(ExpressionParser& parser) : level_(parser.level_) {
    if (++level_ > kMaxHeight) parser.stream_.error(fmt::format("an expression is nested deeper than {} levels", kMaxHeight));
  }
  ~Level() { --level_; }

 private:
  int& level_;
};

template <typename Node>
ExpressionPtr ExpressionParser::make(int line, Node node, int height) {
  if (height >= kMaxHeight) stream_.error(fmt::format("an expression is nested deeper than {} levels", kMaxHeight));
  return std::make_unique<Expression>(Expression{line, height + 1, std::move(node)});
}

int ExpressionParser::intern(const std::string& name) {
  const auto [at, is_new] = ids_.try_emplace(name, int(tree_.names.size()));
  if (is_new) tree_.names.push_back(name);
  return at->second;
}

void ExpressionParser::note_assignment(const std::string& name) {
  for (Uses& macro : uses)
    if (bool* hidden = flag(macro.hidden, name)) *hidden = true;
}

ExpressionPtr ExpressionParser::parse_expression() {
  const Level level(*this);
  ExpressionPtr value = parse_or();
  while (stream_.at_name("if")) {
    const int line = stream_.next().line;
    ExpressionPtr test = parse_or(), otherwise;
    if (stream_.take_name("else")) otherwise = parse_expression();
    const int height = std::max({height_of(test), height_of(value), height_of(otherwise)});
    value = make(line, Conditional{std::move(test), std::move(value), std::move(otherwise)}, height);
  }
  return value;
}

ExpressionPtr ExpressionParser::parse_or() {
  ExpressionPtr left = parse_and();
  while (stream_.at_name("or")) {
    const int line = stream_.next().line;
    ExpressionPtr right = parse_and();
    const int height = std::max(height_of(left), height_of(right));
    left = make(line, Logical{true, std::move(left), std::move(right)}, height);
  }
  return left;
}

ExpressionPtr ExpressionParser::parse_and() {
  ExpressionPtr left = parse_not();
  while (stream_.at_name("and")) {
    const int line = stream_.next().line;
    ExpressionPtr right = parse_not();
    const int height = std::max(height_of(left), height_of(right));
    left = make(line, Logical{false, std::move(left), std::move(right)}, height);
  }
  return left;
}

ExpressionPtr ExpressionParser::parse_not() {
  if (!stream_.at_name("not")) return parse_compare();
  const Level level(*this);
  const int line = stream_.next().line;
  ExpressionPtr operand = parse_not();
  const int height = height_of(operand);
  return make(line, Unary{UnaryOperator::kNot, std::move(operand)}, height);
}

ExpressionPtr ExpressionParser::parse_compare() {
  ExpressionPtr first = parse_sum();
  std::vector<std::pair<Comparison, ExpressionPtr>> rest;
  const int line = stream_.line();
  int height = height_of(first);
  while (true) {
    std::optional<Comparison> op;
    for (const Comparison symbolic : {Comparison::kEqual, Comparison::kNotEqual, Comparison::kLess, Comparison::kLessEqual, Comparison::kGreater,
                                      Comparison::kGreaterEqual})
      if (stream_.at_symbol(symbol(symbolic))) op = symbolic;
    if (stream_.at_name("in")) op = Comparison::kIn;
    if (stream_.at_name("not") && stream_.at_name("in", 1)) op = Comparison::kNotIn, stream_.next();
    if (!op) break;
    stream_.next();
    rest.emplace_back(*op, parse_sum());
    height = std::max(height, height_of(rest.back().second));
  }
  return rest.empty() ? std::move(first) : make(line, Compare{std::move(first), std::move(rest)}, height);
}

ExpressionPtr ExpressionParser::parse_sum() {
  ExpressionPtr left = parse_concatenation();
  while (stream_.at_symbol("+") || stream_.at_symbol("-")) {
    const Token token = stream_.next();
    ExpressionPtr right = parse_concatenation();
    const int height = std::max(height_of(left), height_of(right));
    left = make(token.line, Binary{token.text == "+" ? Operator::kAdd : Operator::kSubtract, std::move(left), std::move(right)}, height);
  }
  return left;
}

ExpressionPtr ExpressionParser::parse_concatenation() {
  const int line = stream_.line();
  std::vector<ExpressionPtr> items;
  items.push_back(parse_product());
  while (stream_.take_symbol("~")) items.push_back(parse_product());
  if (items.size() == 1) return std::move(items[0]);
  const int height = height_of(items);
  return make(line, Concatenation{std::move(items)}, height);
}

ExpressionPtr ExpressionParser::parse_product() {
  ExpressionPtr left = parse_power();
  while (true) {
    std::optional<Operator> op;
    for (const Operator product : {Operator::kMultiply, Operator::kDivide, Operator::kFloorDivide, Operator::kModulo})
      if (stream_.at_symbol(symbol(product))) op = product;
    if (!op) return left;
    const int line = stream_.next().line;
    ExpressionPtr right = parse_power();
    const int height = std::max(height_of(left), height_of(right));
    left = make(line, Binary{*op, std::move(left), std::move(right)}, height);
  }
}

ExpressionPtr ExpressionParser::parse_power() {
  ExpressionPtr left = parse_unary(true);
  while (stream_.at_symbol("**")) {
    const int line = stream_.next().line;
    ExpressionPtr right = parse_unary(true);
    const int height = std::max(height_of(left), height_of(right));
    left = make(line, Binary{Operator::kPower, std::move(left), std::move(right)}, height);
  }
  return left;
}

ExpressionPtr ExpressionParser::parse_unary(bool with_filters) {
  ExpressionPtr operand;
  if (stream_.at_symbol("-") || stream_.at_symbol("+")) {
    const Level level(*this);
    const Token sign = stream_.next();
    operand = parse_unary(false);
    const int height = height_of(operand);
    operand = make(sign.line, Unary{sign.text == "-" ? UnaryOperator::kNegate : UnaryOperator::kPlus, std::move(operand)}, height);
  } else {
    operand = parse_primary();
  }
  operand = parse_postfix(std::move(operand));
  return with_filters ? parse_filters_and_tests(std::move(operand)) : std::move(operand);
}

ExpressionPtr ExpressionParser::parse_primary() {
  const Token& token = stream_.peek();
  const int line = token.line;
  switch (token.kind) {
    case TokenKind::kName: return parse_primary_name();
    case TokenKind::kString: {
      std::string text = stream_.next().text;
      while (stream_.at(TokenKind::kString)) text += stream_.next().text;
      tree_.strings.push_back(std::move(text));
      return make(line, StringLiteral{int(tree_.strings.size()) - 1});
    }
    case TokenKind::kInteger: case TokenKind::kFloat: return parse_number();
    default: break;
  }
  if (stream_.at_symbol("[")) return parse_list();
  if (stream_.at_symbol("{")) return parse_dictionary();
  if (!stream_.take_symbol("(")) stream_.unexpected("an expression");
  const Level level(*this);
  ExpressionPtr inner = parse_tuple_of([this] { return parse_expression(); }, {}, true);
  stream_.expect_symbol(")");
  return inner;
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

ExpressionPtr ExpressionParser::parse_number() {
  const Token token = stream_.next();
  std::string_view digits = token.text;
  if (token.kind == TokenKind::kFloat) {
    double value = 0;
    const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (result.ec == std::errc::result_out_of_range) value = std::strtod(token.text.c_str(), nullptr);
    return make(token.line, Literal{value});
  }
  int base = 10;
  if (digits.size() > 2 && digits[0] == '0' && digits[1] > '9') {
    base = (digits[1] | 0x20) == 'x' ? 16 : (digits[1] | 0x20) == 'o' ? 8 : 2;
    digits.remove_prefix(2);
  }
  int64_t value = 0;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), value, base).ec != std::errc())
    stream_.error(fmt::format("the integer {} does not fit 64 bits", printable(token.text, 40)));
  return make(token.line, Literal{value});
}

ExpressionPtr ExpressionParser::parse_list() {
  const Level level(*this);
  const int line = stream_.next().line;
  std::vector<ExpressionPtr> items;
  while (!stream_.at_symbol("]")) {
    if (!items.empty()) stream_.expect_symbol(",");
    if (stream_.at_symbol("]")) break;
    items.push_back(parse_expression());
  }
  stream_.next();
  const int height = height_of(items);
  return make(line, Sequence{std::move(items), false}, height);
}

ExpressionPtr ExpressionParser::parse_dictionary() {
  const Level level(*this);
  const int line = stream_.next().line;
  std::vector<std::pair<ExpressionPtr, ExpressionPtr>> items;
  int height = 0;
  while (!stream_.at_symbol("}")) {
    if (!items.empty()) stream_.expect_symbol(",");
    if (stream_.at_symbol("}")) break;
    ExpressionPtr key = parse_expression();
    stream_.expect_symbol(":");
    ExpressionPtr value = parse_expression();
    height = std::max({height, height_of(key), height_of(value)});
    items.emplace_back(std::move(key), std::move(value));
  }
  stream_.next();
  return make(line, Dictionary{std::move(items)}, height);
}

ExpressionPtr ExpressionParser::parse_postfix(ExpressionPtr operand) {
  while (true) {
    if (stream_.at_symbol(".")) {
      operand = parse_dot(std::move(operand));
    } else if (stream_.at_symbol("[")) {
      operand = parse_brackets(std::move(operand));
    } else if (stream_.at_symbol("(")) {
      operand = parse_call(std::move(operand));
    } else {
      return operand;
    }
  }
}

ExpressionPtr ExpressionParser::parse_filters_and_tests(ExpressionPtr operand) {
  while (true) {
    if (stream_.at_symbol("|")) {
      operand = parse_filters(std::move(operand));
    } else if (stream_.at_name("is")) {
      operand = parse_test(std::move(operand));
    } else if (stream_.at_symbol("(")) {
      operand = parse_call(std::move(operand));
    } else {
      return operand;
    }
  }
}

ExpressionPtr ExpressionParser::parse_dot(ExpressionPtr object) {
  const int line = stream_.next().line;
  const int height = height_of(object);
  if (stream_.at(TokenKind::kInteger)) {
    ExpressionPtr key = parse_number();
    return make(line, Item{std::move(object), std::move(key)}, height);
  }
  std::string name = stream_.expect(TokenKind::kName, "a name or a number after '.'").text;
  return make(line, Attribute{std::move(object), std::move(name)}, height);
}

ExpressionPtr ExpressionParser::parse_brackets(ExpressionPtr object) {
  const Level level(*this);
  const int line = stream_.next().line;
  std::vector<ExpressionPtr> keys;
  while (!stream_.at_symbol("]")) {
    if (!keys.empty()) stream_.expect_symbol(",");
    if (!stream_.at_symbol(":")) keys.push_back(parse_expression());
    if (!stream_.at_symbol(":")) continue;
    if (keys.size() > 1) stream_.error("a slice cannot stand beside other keys");
    ExpressionPtr start = keys.empty() ? nullptr : std::move(keys[0]), stop, step;
    const auto at_part = [this] { return !stream_.at_symbol(":") && !stream_.at_symbol("]") && !stream_.at_symbol(","); };
    stream_.next();
    if (at_part()) stop = parse_expression();
    if (stream_.take_symbol(":") && at_part()) step = parse_expression();
    stream_.expect_symbol("]");
    const int height = std::max({height_of(object), height_of(start), height_of(stop), height_of(step)});
    return make(line, Slice{std::move(object), std::move(start), std::move(stop), std::move(step)}, height);
  }
  stream_.next();
  const int height = std::max(height_of(object), height_of(keys) + 1);
  ExpressionPtr key = keys.size() == 1 ? std::move(keys[0]) : make(line, Sequence{std::move(keys), true}, height - 1);
  return make(line, Item{std::move(object), std::move(key)}, height);
}

ExpressionPtr ExpressionParser::parse_call(ExpressionPtr callee) {
  const int line = stream_.line();
  Arguments arguments = parse_arguments();
  const int height = std::max(height_of(callee), height_of(arguments));
  return make(line, Call{std::move(callee), std::move(arguments)}, height);
}

Arguments ExpressionParser::parse_arguments() {
  const Level level(*this);
  stream_.expect_symbol("(");
  Arguments arguments;
  const auto require = [this](bool condition) {
    if (!condition) stream_.error("the arguments of a call are out of order: wanted values, then *rest, then name=value, then **named");
  };
  for (bool first = true; !stream_.at_symbol(")"); first = false) {
    if (!first) stream_.expect_symbol(",");
    if (!first && stream_.at_symbol(")")) break;
    if (stream_.take_symbol("*")) {
      require(!arguments.star && !arguments.double_star);
      arguments.star = parse_expression();
    } else if (stream_.take_symbol("**")) {
      require(!arguments.double_star);
      arguments.double_star = parse_expression();
    } else if (stream_.at(TokenKind::kName) && stream_.at_symbol("=", 1)) {
      require(!arguments.double_star);
      std::string name = stream_.next().text;
      stream_.next();
      for (const auto& [other, value] : arguments.named)
        if (other == name) stream_.error(fmt::format("the argument '{}' is given twice", printable(name)));
      arguments.named.emplace_back(std::move(name), parse_expression());
    } else {
      require(!arguments.star && !arguments.double_star && arguments.named.empty());
      arguments.positional.push_back(parse_expression());
    }
  }
  stream_.next();
  return arguments;
}

std::string ExpressionParser::parse_dotted_name(std::string_view wanted) {
  std::string name = stream_.expect(TokenKind::kName, wanted).text;
  while (stream_.take_symbol(".")) name += "." + stream_.expect(TokenKind::kName, wanted).text;
  return name;
}

ExpressionPtr ExpressionParser::parse_one_filter(ExpressionPtr operand) {
  const int line = stream_.line();
  std::string name = parse_dotted_name("the name of a filter");
  Arguments arguments;
  if (stream_.at_symbol("(")) arguments = parse_arguments();
  const int height = std::max(height_of(operand), height_of(arguments));
  const NativeFunction function = find_filter(name);
  return make(line, Filter{std::move(operand), std::move(name), function, std::move(arguments)}, height);
}

ExpressionPtr ExpressionParser::parse_filters(ExpressionPtr operand) {
  while (stream_.take_symbol("|")) operand = parse_one_filter(std::move(operand));
  return operand;
}

ExpressionPtr ExpressionParser::parse_test(ExpressionPtr operand) {
  const int line = stream_.next().line;
  const bool is_negated = stream_.take_name("not");
  std::string name = parse_dotted_name("the name of a test");
  Arguments arguments;
  const Token& token = stream_.peek();
  const bool begins_value = token.kind == TokenKind::kName || token.kind == TokenKind::kString || token.kind == TokenKind::kInteger ||
                            token.kind == TokenKind::kFloat || stream_.at_symbol("[") || stream_.at_symbol("{");
  if (stream_.at_symbol("(")) {
    arguments = parse_arguments();
  } else if (begins_value && !stream_.at_name("else") && !stream_.at_name("or") && !stream_.at_name("and")) {
    if (stream_.at_name("is")) stream_.error("tests cannot be chained with 'is'");
    arguments.positional.push_back(parse_postfix(parse_primary()));
  }
  int height = std::max(height_of(operand), height_of(arguments));
  const NativeFunction function = find_test(name);
  ExpressionPtr test = make(line, Test{std::move(operand), std::move(name), function, std::move(arguments)}, height);
  if (!is_negated) return test;
  height = height_of(test);
  return make(line, Unary{UnaryOperator::kNot, std::move(test)}, height);
}

bool ExpressionParser::at_tuple_end(std::string_view stop) const {
  return stream_.at(TokenKind::kExpressionEnd) || stream_.at(TokenKind::kTagEnd) || stream_.at_symbol(")") ||
         (!stop.empty() && stream_.at_name(stop));
}

template <typename ParseOne>
ExpressionPtr ExpressionParser::parse_tuple_of(ParseOne parse_one, std::string_view stop, bool may_be_empty) {
  const int line = stream_.line();
  std::vector<ExpressionPtr> items;
  bool is_tuple = false;
  while (!at_tuple_end(stop)) {
    items.push_back(parse_one());
    if (!stream_.take_symbol(",")) break;
    is_tuple = true;
  }
  if (!is_tuple && !items.empty()) return std::move(items[0]);
  if (items.empty() && !may_be_empty) stream_.unexpected("an expression");
  const int height = height_of(items);
  return make(line, Sequence{std::move(items), true}, height);
}

ExpressionPtr ExpressionParser::parse_tuple(std::string_view stop) {
  return parse_tuple_of([this] { return parse_expression(); }, stop, false);
}

ExpressionPtr ExpressionParser::parse_tuple_without_condition(std::string_view stop) {
  return parse_tuple_of([this] { return parse_or(); }, stop, false);
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
