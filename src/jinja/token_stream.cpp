#include "jinja/token_stream.h"

#include "core/error.h"
#include "jinja/template_error.h"

namespace headrace::jinja {
namespace {

std::string describe(const Token& token) {
  switch (token.kind) {
    case TokenKind::kText: return "text";
    case TokenKind::kExpressionBegin: return "'{{'";
    case TokenKind::kExpressionEnd: return "'}}'";
    case TokenKind::kTagBegin: return "'{%'";
    case TokenKind::kTagEnd: return "'%}'";
    case TokenKind::kString: return fmt::format("the string '{}'", printable(token.text, 40));
    case TokenKind::kEnd: return "the end of the template";
    default: return fmt::format("'{}'", printable(token.text, 40));
  }
}

}  // namespace

Token TokenStream::next() {
  Token token = peek();
  if (at_ + 1 < tokens_.size()) ++at_;
  return token;
}

bool TokenStream::at_name(std::string_view name, size_t ahead) const {
  return peek(ahead).kind == TokenKind::kName && peek(ahead).text == name;
}

bool TokenStream::at_symbol(std::string_view symbol, size_t ahead) const {
  return peek(ahead).kind == TokenKind::kSymbol && peek(ahead).text == symbol;
}

bool TokenStream::take_name(std::string_view name) {
  if (!at_name(name)) return false;
  next();
  return true;
}

bool TokenStream::take_symbol(std::string_view symbol) {
  if (!at_symbol(symbol)) return false;
  next();
  return true;
}

Token TokenStream::expect(TokenKind kind, std::string_view wanted) {
  if (!at(kind)) unexpected(wanted);
  return next();
}

void TokenStream::expect_name(std::string_view name) {
  if (!take_name(name)) unexpected(fmt::format("'{}'", name));
}

void TokenStream::expect_symbol(std::string_view symbol) {
  if (!take_symbol(symbol)) unexpected(fmt::format("'{}'", symbol));
}

void TokenStream::error(const std::string& message) const { throw TemplateError(ErrorCode::kInvalidArgument, name_, line(), message); }

void TokenStream::unexpected(std::string_view wanted) const { error(fmt::format("found {}, wanted {}", describe(peek()), wanted)); }

}  // namespace headrace::jinja
