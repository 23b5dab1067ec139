// Conditions and operators, weakest first: each level reads operands of the next.
#include "jinja/expression_building.h"

namespace headrace::jinja {

using namespace ast;

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

// operand (operator operand)*, grouped from the left. `take` returns what the node is to say of an operator, if one comes next.
template <typename Node, typename Operand, typename Take>
ExpressionPtr ExpressionParser::parse_from_left(Operand operand, Take take) {
  ExpressionPtr left = operand();
  while (true) {
    const int line = stream_.line();
    const auto kind = take();
    if (!kind) return left;
    ExpressionPtr right = operand();
    const int height = std::max(height_of(left), height_of(right));
    left = make(line, Node{*kind, std::move(left), std::move(right)}, height);
  }
}

std::optional<Operator> ExpressionParser::take_operator(std::initializer_list<Operator> operators) {
  for (const Operator op : operators)
    if (stream_.take_symbol(symbol(op))) return op;
  return std::nullopt;
}

ExpressionPtr ExpressionParser::parse_or() {
  return parse_from_left<Logical>([&] { return parse_and(); },
                                  [&] { return stream_.take_name("or") ? std::optional(true) : std::nullopt; });
}

ExpressionPtr ExpressionParser::parse_and() {
  return parse_from_left<Logical>([&] { return parse_not(); },
                                  [&] { return stream_.take_name("and") ? std::optional(false) : std::nullopt; });
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
    for (const Comparison symbolic : {Comparison::kEqual, Comparison::kNotEqual, Comparison::kLess, Comparison::kLessEqual,
                                      Comparison::kGreater, Comparison::kGreaterEqual})
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
  return parse_from_left<Binary>([&] { return parse_concatenation(); },
                                 [&] {
                                   return take_operator({Operator::kAdd, Operator::kSubtract});
                                 });
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
  return parse_from_left<Binary>(
      [&] { return parse_power(); },
      [&] {
        return take_operator({Operator::kMultiply, Operator::kDivide, Operator::kFloorDivide, Operator::kModulo});
      });
}

ExpressionPtr ExpressionParser::parse_power() {
  return parse_from_left<Binary>([&] { return parse_unary(true); }, [&] { return take_operator({Operator::kPower}); });
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

}  // namespace headrace::jinja
