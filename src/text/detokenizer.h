// Tokens to text while they come. The pieces, joined, are exactly what decode() gives for all the tokens (invalid bytes replaced);
// no character is ever cut in two.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "text/decoder.h"
#include "text/tokenizer.h"

namespace headrace {

class Detokenizer {
 public:
  explicit Detokenizer(std::shared_ptr<const Tokenizer> tokenizer, DecodeOptions options = {});

  // What is certain after these tokens: valid UTF-8. A sequence that can no longer become a character is U+FFFD.
  std::string push(std::span<const int32_t> ids);
  std::string push(int32_t id) { return push({&id, 1}); }
  // The rest; nothing may be pushed afterwards.
  std::string flush();

 private:
  std::string take_complete();

  std::shared_ptr<const Tokenizer> tokenizer_;
  DecodeOptions options_;
  DecodeStream stream_;
  std::string held_;  // the beginning of a character
};

}  // namespace headrace
