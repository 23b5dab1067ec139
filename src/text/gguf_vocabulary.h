// A vocabulary as GGUF files hold it (the tokenizer.ggml.* keys), and the tokenizer that it means.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headrace/tokenizer.h"

namespace headrace {

enum class GgufTokenType : uint8_t { kUndefined, kNormal, kUnknown, kControl, kUserDefined, kUnused, kByte };

// Views need to live only until gguf_tokenizer returns. Absent keys stay empty: each kind of model has its own defaults.
struct GgufVocabulary {
  std::string_view model;                                          // tokenizer.ggml.model: "llama", "gpt2", "bert", "t5"
  std::string_view pre;                                            // tokenizer.ggml.pre: which pre-tokenizer
  std::vector<std::string_view> tokens;                            // tokenizer.ggml.tokens
  std::vector<float> scores;                                       // tokenizer.ggml.scores; empty or one each
  std::vector<int32_t> types;                                      // tokenizer.ggml.token_type: GgufTokenType; empty or one each
  std::vector<std::string_view> merges;                            // tokenizer.ggml.merges: "left right"
  std::optional<int64_t> bos, eos, eot, eom, unk, sep, pad, mask;  // tokenizer.ggml.bos_token_id ...
  std::optional<bool> add_bos, add_eos, add_space_prefix, remove_extra_whitespaces, escape_whitespaces, treat_whitespace_as_suffix;
  std::optional<bool> lowercase, strip_accents;   // tokenizer.ggml.normalizer.*: of "bert"
  std::string_view precompiled_charsmap;          // tokenizer.ggml.precompiled_charsmap
  std::optional<std::string_view> chat_template;  // tokenizer.chat_template
  std::string_view model_name;                    // general.name: some models' special tokens take the whitespace behind them along
};

// Throws Error(kUnsupported) for a model or pre-tokenizer that is not known, naming it; Error(kInvalidArgument) for bad values.
std::shared_ptr<const Tokenizer> gguf_tokenizer(const GgufVocabulary& vocabulary);

}  // namespace headrace
