// Reads tokenizer.json in one pass: the large lists go straight into flat tables, the rest becomes an ordinary JSON tree.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "text/vocabulary.h"

namespace headrace {

struct TokenizerJson {
  Json root;                   // without model.vocab and model.merges
  Vocabulary vocabulary;       // model.vocab
  bool vocab_is_list = false;  // of [token, score] (Unigram), not an object from token to id
  std::vector<double> scores;  // of a list
  std::string merge_text;      // model.merges: the two halves of each, one behind the other
  struct MergeSpan {
    uint32_t begin, middle, end;
  };
  std::vector<MergeSpan> merges;
};

TokenizerJson read_tokenizer_json(std::string_view text);

}  // namespace headrace
