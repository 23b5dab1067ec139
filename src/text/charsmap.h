// SentencePiece's precompiled character map: a double-array trie (darts-clone) from UTF-8 prefixes to their replacements.
//   bytes  u32 size of the trie, the trie's u32 units, then zero-terminated replacements
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace headrace {

class Charsmap {
 public:
  struct Prefix {
    std::string_view replacement;
    size_t length;  // bytes of the text that it replaces
  };
  // Copies what it needs. Throws Error(kInvalidArgument) when the sizes do not fit.
  Charsmap(std::string_view bytes, std::string_view where);
  // What the text at `at` begins with: the LONGEST mapped prefix, else one character as it is, else U+FFFD for one bad byte.
  Prefix normalize_prefix(std::string_view text) const;
  std::string normalize(std::string_view text) const;

 private:
  std::vector<uint32_t> units_;
  std::string replacements_;
};

}  // namespace headrace
