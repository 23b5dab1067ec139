// Parses expressions, with the precedence of jinja2: if-else, or, and, not, comparisons, + -, ~, * / // %, **, signs, then
// attributes, items, calls, filters and tests.
#pragma once

#include <unordered_map>

#include "jinja/ast.h"
#include "jinja/token_stream.h"

namespace headrace::jinja {

class ExpressionParser {
 public:
  ExpressionParser(TokenStream& stream, ast::Tree& tree) : stream_(stream), tree_(tree) {}

  ast::ExpressionPtr parse_expression();
  // Several expressions with commas between them are a tuple. `stop` is a name that may follow a last comma.
  ast::ExpressionPtr parse_tuple(std::string_view stop = {});
  // The same without if-else: what `if`, `elif` and `for ... in` take.
  ast::ExpressionPtr parse_tuple_without_condition(std::string_view stop = {});
  ast::Target parse_target(std::string_view stop = {});
  ast::Target parse_namespace_target();
  // A name that can be assigned to, interned.
  int parse_name();
  // The filters of {% filter a | b %} (`operand` null), or after `operand`.
  ast::ExpressionPtr parse_filters(ast::ExpressionPtr operand);
  ast::ExpressionPtr parse_one_filter(ast::ExpressionPtr operand);

  int intern(const std::string& name);

  // Follows which special variables the bodies of macros use: one entry per macro being parsed, innermost last.
  struct Uses {
    ast::MacroUses used, hidden;  // hidden: assigned to before they were used
  };
  std::vector<Uses> uses;
  void note_assignment(const std::string& name);

 private:
  friend class Level;
  // `height`: of the tallest child. Defined in expression_building.h.
  template <typename Node>
  ast::ExpressionPtr make(int line, Node node, int height = 0);

  // Operators, weakest first: expression_parser.cpp.
  ast::ExpressionPtr parse_or();
  ast::ExpressionPtr parse_and();
  ast::ExpressionPtr parse_not();
  ast::ExpressionPtr parse_compare();
  ast::ExpressionPtr parse_sum();
  ast::ExpressionPtr parse_concatenation();
  ast::ExpressionPtr parse_product();
  ast::ExpressionPtr parse_power();
  ast::ExpressionPtr parse_unary(bool with_filters);
  template <typename Node, typename Operand, typename Take>
  ast::ExpressionPtr parse_from_left(Operand operand, Take take);
  std::optional<Operator> take_operator(std::initializer_list<Operator> operators);

  // What an operand begins with: primary_expressions.cpp.
  ast::ExpressionPtr parse_primary();
  ast::ExpressionPtr parse_number();
  ast::ExpressionPtr parse_list();
  ast::ExpressionPtr parse_dictionary();
  ast::ExpressionPtr parse_tuple_of(ast::ExpressionPtr (ExpressionParser::*parse_one)(), std::string_view stop, bool may_be_empty);
  bool at_tuple_end(std::string_view stop) const;

  // What follows it: postfix_expressions.cpp.
  ast::ExpressionPtr parse_postfix(ast::ExpressionPtr operand);
  ast::ExpressionPtr parse_filters_and_tests(ast::ExpressionPtr operand);
  ast::ExpressionPtr parse_dot(ast::ExpressionPtr object);
  ast::ExpressionPtr parse_brackets(ast::ExpressionPtr object);
  ast::ExpressionPtr parse_call(ast::ExpressionPtr callee);
  ast::ExpressionPtr parse_test(ast::ExpressionPtr operand);
  ast::Arguments parse_arguments();
  std::string parse_dotted_name(std::string_view wanted);

  // Names, read and assigned to: expression_names.cpp.
  ast::ExpressionPtr parse_primary_name();
  ast::Target parse_single_target(bool with_namespace);
  ast::Target parse_targets(std::string_view stop, bool with_namespace);

  TokenStream& stream_;
  ast::Tree& tree_;
  std::unordered_map<std::string, int> ids_;
  int level_ = 0;
};

}  // namespace headrace::jinja
