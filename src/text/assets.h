// The files that make a tokenizer, as bytes, whoever read them.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "headrace/tokenizer.h"

namespace headrace {

struct TextAssets {
  std::string name;  // the folder's: where files hold ranks only, it says which pre-tokenizer they want ("llama3", "cl100k_base")
  std::map<std::string, std::string> files;  // file name -> bytes
};

// From tokenizer.json, else a SentencePiece model or ranks (tokenizer.model, *.tiktoken), else vocab.json with merges.txt, else vocab.txt;
// tokenizer_config.json, special_tokens_map.json, added_tokens.json and chat_template.jinja complete it.
// Throws Error: kNotFound when there is no vocabulary, kUnsupported for a kind of tokenizer that is not built, kInvalidArgument for bad
// files.
std::shared_ptr<const Tokenizer> load_tokenizer(const TextAssets& assets);

}  // namespace headrace
