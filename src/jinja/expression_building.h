// What the parts of ExpressionParser share: how nodes are made, and how their heights are found and bounded. Internal to the parser.
#pragma once

#include <algorithm>

#include "core/error.h"
#include "jinja/expression_parser.h"

namespace headrace::jinja {

inline int height_of(const ast::ExpressionPtr& e) { return e ? e->height : 0; }

inline int height_of(const std::vector<ast::ExpressionPtr>& list) {
  int height = 0;
  for (const auto& e : list) height = std::max(height, height_of(e));
  return height;
}

inline int height_of(const ast::Arguments& arguments) {
  int height = std::max({height_of(arguments.positional), height_of(arguments.star), height_of(arguments.double_star)});
  for (const auto& [name, e] : arguments.named) height = std::max(height, height_of(e));
  return height;
}

// One level of brackets, signs or conditions deeper.
class Level {
 public:
  explicit Level(ExpressionParser& parser) : level_(parser.level_) {
    if (++level_ > ast::kMaxHeight) parser.stream_.error(fmt::format("an expression is nested deeper than {} levels", ast::kMaxHeight));
  }
  ~Level() { --level_; }

 private:
  int& level_;
};

template <typename Node>
ast::ExpressionPtr ExpressionParser::make(int line, Node node, int height) {
  if (height >= ast::kMaxHeight) stream_.error(fmt::format("an expression is nested deeper than {} levels", ast::kMaxHeight));
  return std::make_unique<ast::Expression>(ast::Expression{line, height + 1, std::move(node)});
}

}  // namespace headrace::jinja
