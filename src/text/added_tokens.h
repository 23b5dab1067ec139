// Tokens that are cut out of a text before anything else happens to it: special (control) tokens and user-defined ones.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/byte_trie.h"

namespace headrace {

struct AddedToken {
  int32_t id = 0;
  std::string content;
  bool single_word = false;             // only between characters that are no part of a word
  bool lstrip = false, rstrip = false;  // takes the whitespace beside it along
  bool normalized = true;               // looked for in the normalized text, not in the raw one
  bool special = false;                 // never found in plain user text
};

// A stretch of text, or the token that stands for it.
struct Fragment {
  std::string_view text;
  int32_t id = -1;  // -1: text
};

// Finds tokens in text: leftmost first, the longest of those that begin together.
class AddedTokenFinder {
 public:
  // `pattern` is how the token looks in the text that is searched.
  void add(const AddedToken& token, std::string_view pattern);
  bool empty() const { return trie_.empty(); }
  void cut(std::string_view text, std::vector<Fragment>& fragments) const;

 private:
  ByteTrie trie_;  // value: index into tokens_
  std::vector<AddedToken> tokens_;
};

}  // namespace headrace
