// For tests: the pieces that one pre-tokenizer cuts a text into.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/pre_tokenizer.h"

namespace headrace::test {

inline std::vector<std::string> cut(const PreTokenizer& pre_tokenizer, std::string_view text) {
  PieceList list;
  list.pieces.push_back({text, true});
  pre_tokenizer(list);
  std::vector<std::string> pieces;
  for (const Piece& piece : list.pieces) pieces.emplace_back(piece.text);
  return pieces;
}

}  // namespace headrace::test
