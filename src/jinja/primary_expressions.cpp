// What an operand begins with: literals, names, lists, dictionaries, and what stands in parentheses.
#include <charconv>
#include <cstdlib>

#include "jinja/expression_building.h"

namespace headrace::jinja {

using namespace ast;

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
    case TokenKind::kInteger:
    case TokenKind::kFloat: return parse_number();
    default: break;
  }
  if (stream_.at_symbol("[")) return parse_list();
  if (stream_.at_symbol("{")) return parse_dictionary();
  if (!stream_.take_symbol("(")) stream_.unexpected("an expression");
  const Level level(*this);
  ExpressionPtr inner = parse_tuple_of(&ExpressionParser::parse_expression, {}, true);
  stream_.expect_symbol(")");
  return inner;
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

bool ExpressionParser::at_tuple_end(std::string_view stop) const {
  return stream_.at(TokenKind::kExpressionEnd) || stream_.at(TokenKind::kTagEnd) || stream_.at_symbol(")") ||
         (!stop.empty() && stream_.at_name(stop));
}

ExpressionPtr ExpressionParser::parse_tuple_of(ExpressionPtr (ExpressionParser::*parse_one)(), std::string_view stop, bool may_be_empty) {
  const int line = stream_.line();
  std::vector<ExpressionPtr> items;
  bool is_tuple = false;
  while (!at_tuple_end(stop)) {
    items.push_back((this->*parse_one)());
    if (!stream_.take_symbol(",")) break;
    is_tuple = true;
  }
  if (!is_tuple && !items.empty()) return std::move(items[0]);
  if (items.empty() && !may_be_empty) stream_.unexpected("an expression");
  const int height = height_of(items);
  return make(line, Sequence{std::move(items), true}, height);
}

ExpressionPtr ExpressionParser::parse_tuple(std::string_view stop) {
  return parse_tuple_of(&ExpressionParser::parse_expression, stop, false);
}

ExpressionPtr ExpressionParser::parse_tuple_without_condition(std::string_view stop) {
  return parse_tuple_of(&ExpressionParser::parse_or, stop, false);
}

}  // namespace headrace::jinja
