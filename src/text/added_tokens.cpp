#include "text/added_tokens.h"

#include <algorithm>

#include "core/utf8.h"
#include "text/unicode.h"

namespace headrace {
namespace {

// The last character before `end`; text is valid UTF-8 and end > 0.
size_t character_before(std::string_view text, size_t end) {
  do --end;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80);
  return end;
}

bool ends_with_word(std::string_view text, size_t end) {
  return end > 0 && is_word(decode_utf8(text, character_before(text, end)).codepoint);
}

bool starts_with_word(std::string_view text, size_t begin) { return begin < text.size() && is_word(decode_utf8(text, begin).codepoint); }

size_t skip_whitespace_back(std::string_view text, size_t end, size_t least) {
  while (end > least) {
    const size_t begin = character_before(text, end);
    if (begin < least || !is_whitespace(decode_utf8(text, begin).codepoint)) break;
    end = begin;
  }
  return end;
}

size_t skip_whitespace(std::string_view text, size_t begin) {
  while (begin < text.size()) {
    const Utf8 c = decode_utf8(text, begin);
    if (!is_whitespace(c.codepoint)) break;
    begin += static_cast<size_t>(c.length);
  }
  return begin;
}

}  // namespace

void AddedTokenFinder::add(const AddedToken& token, std::string_view pattern) {
  if (pattern.empty()) return;
  trie_.insert(pattern, static_cast<int32_t>(tokens_.size()));
  tokens_.push_back(token);
}

void AddedTokenFinder::cut(std::string_view text, std::vector<Fragment>& fragments) const {
  size_t done = 0;
  for (size_t i = 0; i < text.size() && !trie_.empty();) {
    if (trie_.root(text[i]) < 0) {
      ++i;
      continue;
    }
    const auto found = trie_.longest_prefix(text.substr(i));
    if (!found) {
      ++i;
      continue;
    }
    const AddedToken& token = tokens_[static_cast<size_t>(found->value)];
    size_t begin = i, end = i + found->length;
    i = end;  // the search goes on where the token itself ends, though its whitespace may be taken: another one may begin with it
    if (token.single_word && (ends_with_word(text, begin) || starts_with_word(text, end))) continue;
    if (token.lstrip) begin = skip_whitespace_back(text, begin, done);
    begin = std::max(begin, done);
    end = std::max(end, done);
    if (token.rstrip) end = skip_whitespace(text, end);
    if (begin > done) fragments.push_back({text.substr(done, begin - done)});
    fragments.push_back({text.substr(begin, end - begin), token.id});
    done = end;
  }
  if (done < text.size()) fragments.push_back({text.substr(done)});
}

}  // namespace headrace
