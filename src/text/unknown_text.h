// What becomes of text that no token spells: byte tokens, an unknown token, or nothing.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "text/model.h"
#include "text/vocabulary.h"

namespace headrace {

class UnknownText {
 public:
  UnknownText(const Vocabulary& vocabulary, const UnknownOptions& options);

  // Whether the byte tokens spell this text.
  bool spells(std::string_view text) const;
  int32_t byte_token(char byte) const { return byte_tokens_[static_cast<unsigned char>(byte)]; }
  // No text gives nothing.
  bool drops_nothing() const;

  // Appends `id`, or when it is -1 what becomes of `text`. `after_unknown` belongs to the caller: false where a piece begins.
  void append(int32_t id, std::string_view text, bool& after_unknown, std::vector<int32_t>& ids) const;

 private:
  UnknownOptions options_;
  std::vector<int32_t> byte_tokens_;  // by byte, -1 where there is none; empty without byte fallback
};

}  // namespace headrace
