// The tokens of a template, read one after the other.
#pragma once

#include <algorithm>

#include "jinja/lexer.h"

namespace headrace::jinja {

class TokenStream {
 public:
  TokenStream(std::string_view source, std::string_view name) : tokens_(tokenize(source, name)), name_(name) {}

  const Token& peek(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  Token next();
  int line() const { return peek().line; }

  bool at(TokenKind kind) const { return peek().kind == kind; }
  bool at_name(std::string_view name, size_t ahead = 0) const;
  bool at_symbol(std::string_view symbol, size_t ahead = 0) const;
  bool take_name(std::string_view name);
  bool take_symbol(std::string_view symbol);

  Token expect(TokenKind kind, std::string_view wanted);
  void expect_name(std::string_view name);
  void expect_symbol(std::string_view symbol);

  // Throws TemplateError at the current token's line.
  [[noreturn]] void error(const std::string& message) const;
  // "found X, wanted Y".
  [[noreturn]] void unexpected(std::string_view wanted) const;

 private:
  std::vector<Token> tokens_;
  std::string_view name_;
  size_t at_ = 0;
};

}  // namespace headrace::jinja
