// Tokenizers: text to token ids and back. Token ids are int32; text is UTF-8.
//
//   std::shared_ptr<const Tokenizer> tokenizer = load_tokenizer("SmolLM2-135M-Instruct.gguf");
//   std::vector<int32_t> ids = tokenizer->encode("Hello, world");
//   std::string text = tokenizer->decode(ids);
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headrace/types.h"

namespace headrace {

struct TokenizerParts;
class Decoder;

struct EncodeOptions {
  bool add_special = true;     // BOS, EOS, CLS, SEP as the tokenizer is configured
  bool parse_special = false;  // the text of control tokens means those tokens: for rendered chat templates, never for users' text
};

struct DecodeOptions {
  bool skip_special = false;  // control tokens give nothing
};

struct EncodedPair {
  std::vector<int32_t> ids;
  std::vector<int32_t> type_ids;  // 0 or 1, as BERT's token types
};

// Immutable: any number of threads may use one at once.
//   text -> added tokens cut out -> normalizers -> pre-tokenizers -> model -> special tokens around it -> ids
class Tokenizer {
 public:
  explicit Tokenizer(TokenizerParts parts);  // for Headrace's own loaders: see load_tokenizer
  ~Tokenizer();

  // Throws Error(kInvalidArgument) when the text is not valid UTF-8. With add_special and parse_special, a BOS or EOS that the text
  // (a rendered chat template) brings itself is not added a second time.
  std::vector<int32_t> encode(std::string_view text, const EncodeOptions& options = {}) const;
  // Two texts with the special tokens between and around them, as cross-encoders want them.
  EncodedPair encode_pair(std::string_view first, std::string_view second, const EncodeOptions& options = {}) const;

  // The bytes that the tokens spell, which are not always valid UTF-8: tokens may end within a character. Detokenizer gives text that
  // is. Ids without a token give nothing.
  std::string decode(std::span<const int32_t> ids, const DecodeOptions& options = {}) const;
  // What one token adds in the middle of a text. A byte token's bytes may be part of a character.
  std::string token_bytes(int32_t id) const;

  // The token as the vocabulary writes it ("Ġhello", "▁hello", "##ing", "<s>"); empty for an id without a token.
  std::string_view token_text(int32_t id) const;
  std::optional<int32_t> find_token(std::string_view text) const;
  bool has_token(int32_t id) const;
  bool is_special(int32_t id) const;
  int32_t vocab_size() const;  // one past the largest id

  std::optional<int32_t> bos_id() const;
  std::optional<int32_t> eos_id() const;
  // Those that have a name, as the vocabulary writes them: ("bos_token", "<s>"). Names without a token are left out.
  std::vector<std::pair<std::string, std::string>> named_tokens() const;
  // Tokens that end an answer as far as the vocabulary tells: EOS and the known ends of a turn. A generation_config may name others.
  std::span<const int32_t> stop_ids() const;
  bool add_bos() const;  // encode() with add_special puts a BOS in front
  bool add_eos() const;
  const std::optional<std::string>& chat_template() const;  // Jinja

  const Decoder& decoder() const;  // for Headrace's own use

 private:
  void encode_text(std::string_view text, bool parse_special, std::vector<int32_t>& ids) const;
  void encode_fragment(std::string_view text, bool at_start, bool parse_special, std::vector<int32_t>& ids) const;

  std::unique_ptr<const TokenizerParts> parts_;
  struct Finders;
  std::unique_ptr<const Finders> finders_;
};

// `path`: a Hugging Face folder, a .gguf file, an engine, a folder with just a vocabulary, or a vocabulary file (tokenizer.json,
// a SentencePiece *.model, *.tiktoken, vocab.txt). Throws Error: kNotFound when there is no vocabulary, kUnsupported for a kind that is
// not built, kInvalidArgument for a damaged file.
std::shared_ptr<const Tokenizer> load_tokenizer(const std::string& path);

// Tokens to text while they come. The pieces, joined, are exactly what decode() gives for all the tokens, invalid bytes replaced by
// U+FFFD; no character is ever cut in two. One for each stream of tokens; not for several threads at once.
class Detokenizer {
 public:
  explicit Detokenizer(std::shared_ptr<const Tokenizer> tokenizer, DecodeOptions options = {});
  ~Detokenizer();
  Detokenizer(Detokenizer&&) noexcept;
  Detokenizer& operator=(Detokenizer&&) noexcept;

  // What is certain after these tokens: valid UTF-8, perhaps empty.
  std::string push(std::span<const int32_t> ids);
  std::string push(int32_t id) { return push({&id, 1}); }
  // The rest; nothing may be pushed afterwards.
  std::string flush();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headrace
