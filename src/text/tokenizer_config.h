// tokenizer_config.json, special_tokens_map.json and chat_template.jinja: what they say about a tokenizer.
#pragma once

#include <map>
#include <set>
#include <string>

#include "text/assets.h"
#include "text/tokenizer_parts.h"

namespace headrace {

struct TokenizerConfig {
  std::string tokenizer_class;  // "LlamaTokenizerFast"
  std::optional<bool> add_bos, add_eos, add_prefix_space, legacy, do_lower_case, strip_accents, tokenize_chinese_chars, clean_up_spaces;
  std::map<std::string, std::string> special;  // "bos_token" -> "<s>"
  std::set<std::string> more_special;          // additional_special_tokens
  std::vector<AddedToken> added;               // added_tokens_decoder
  std::vector<AddedToken> legacy_added;        // added_tokens.json, which counts only without an added_tokens_decoder
  std::optional<std::string> chat_template;    // the default one, when there are several

  // From the files of `assets`; all of them may be absent.
  static TokenizerConfig read(const TextAssets& assets);
  bool class_contains(std::string_view name) const { return tokenizer_class.find(name) != std::string::npos; }
};

// Adds tokens, special ids, the template, and BOS and EOS when the configuration asks for them and the vocabulary's own file does not.
void apply_config(const TokenizerConfig& config, TokenizerParts& parts);

}  // namespace headrace
