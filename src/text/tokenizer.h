// A tokenizer: text to token ids and back. Immutable and safe to share between threads.
//
//   text -> added tokens cut out -> normalizers -> pre-tokenizers -> model -> special tokens around it -> ids
//
// load_tokenizer (text/assets.h) makes one from the files of a checkpoint, gguf_tokenizer (text/gguf_vocabulary.h) from GGUF metadata.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

class Tokenizer {
 public:
  explicit Tokenizer(TokenizerParts parts);
  ~Tokenizer();

  // Throws Error(kInvalidArgument) when the text is not valid UTF-8. With add_special and parse_special, a BOS or EOS that the text
  // (a rendered chat template) brings itself is not added a second time.
  std::vector<int32_t> encode(std::string_view text, const EncodeOptions& options = {}) const;
  // Two texts with the special tokens between and around them, as cross-encoders want them.
  EncodedPair encode_pair(std::string_view first, std::string_view second, const EncodeOptions& options = {}) const;

  // The bytes that the tokens spell, not always valid UTF-8 (replace_invalid_utf8 in core/utf8.h makes text of them).
  // Ids without a token give nothing.
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

  const Decoder& decoder() const;  // for streams: see text/detokenizer.h

 private:
  void encode_text(std::string_view text, bool parse_special, std::vector<int32_t>& ids) const;
  void encode_fragment(std::string_view text, bool at_start, bool parse_special, std::vector<int32_t>& ids) const;

  std::unique_ptr<const TokenizerParts> parts_;
  struct Finders;
  std::unique_ptr<const Finders> finders_;
};

}  // namespace headrace
