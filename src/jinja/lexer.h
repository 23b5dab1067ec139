// Splits a template into text and the tokens of its tags, with jinja2's white space rules
// (trim_blocks and lstrip_blocks on, the last newline dropped).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::jinja {

enum class TokenKind : uint8_t {
  kText,
  kExpressionBegin,
  kExpressionEnd,
  kTagBegin,
  kTagEnd,
  kName,
  kString,
  kInteger,
  kFloat,
  kSymbol,
  kEnd,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  int line = 1;
  std::string text;  // a string's value; a number's digits without underscores
};

// Ends with kEnd. Throws TemplateError; `name` is the template's, for the message.
std::vector<Token> tokenize(std::string_view source, std::string_view name);

}  // namespace headrace::jinja
