// The pre-tokenizers that go by a name: those of GGUF files (tokenizer.ggml.pre) and of tiktoken's ranks.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace headrace {

struct NamedPreTokenizer {
  std::vector<std::string_view> patterns;  // each cuts what the one before has left
  bool ignore_merges = false;              // a piece that is a token is taken whole
  bool add_bos = false;                    // unless the file says otherwise
  bool escapes_spaces = false;             // U+2581 for spaces and byte tokens, instead of GPT-2's alphabet
};

std::optional<NamedPreTokenizer> find_gguf_pre_tokenizer(std::string_view name);
// "cl100k_base", "llama3", "qwen" ...
std::optional<std::string_view> find_ranks_pattern(std::string_view name);

}  // namespace headrace
