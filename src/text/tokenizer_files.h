// Readers of vocabularies other than tokenizer.json. All treat their input as hostile and throw Error. Private to load_tokenizer.
#pragma once

#include <string_view>

#include "text/tokenizer_config.h"
#include "text/tokenizer_parts.h"

namespace headrace {

// SentencePiece's .model: a protocol buffer, unigram or BPE.
TokenizerParts read_sentencepiece(std::string_view bytes, std::string_view where, const TokenizerConfig& config);

// tiktoken's ranks: lines of a token in base64 and its rank. `name` says which patterns and special tokens go with them.
bool looks_like_ranks(std::string_view bytes);
bool knows_ranks(std::string_view name);
TokenizerParts read_ranks(std::string_view bytes, std::string_view name);

// GPT-2's pair of files, and BERT's list of words.
TokenizerParts read_vocab_and_merges(std::string_view vocab, std::string_view merges, const TokenizerConfig& config);
TokenizerParts read_vocab_txt(std::string_view vocab, const TokenizerConfig& config);

}  // namespace headrace
