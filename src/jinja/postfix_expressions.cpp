// What follows an operand: attributes, items, slices, calls, filters and tests.
#include "jinja/expression_building.h"
#include "jinja/filters/filters.h"
#include "jinja/tests.h"

namespace headrace::jinja {

using namespace ast;

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

}  // namespace headrace::jinja
