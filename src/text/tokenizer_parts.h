// What a Tokenizer is made of. The loaders fill it in.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "text/added_tokens.h"
#include "text/decoder.h"
#include "text/model.h"
#include "text/normalizer.h"
#include "text/pre_tokenizer.h"
#include "text/vocabulary.h"

namespace headrace {

// One element of what stands around a text: tokens, or the first or second text itself.
struct TemplatePart {
  enum class Kind { kTokens, kFirst, kSecond } kind = Kind::kTokens;
  std::vector<int32_t> ids;
  int32_t type_id = 0;
};

// `single` has at least one part, and a part of tokens has at least one id.
struct PostTemplate {
  std::vector<TemplatePart> single = {{TemplatePart::Kind::kFirst, {}, 0}};
  std::vector<TemplatePart> pair = {{TemplatePart::Kind::kFirst, {}, 0}, {TemplatePart::Kind::kSecond, {}, 1}};
  bool adds_tokens() const { return single.size() > 1; }
};

struct SpecialIds {
  std::optional<int32_t> bos, eos, pad, unk, sep, cls, mask;
};

struct TokenizerParts {
  std::shared_ptr<Vocabulary> vocabulary = std::make_shared<Vocabulary>();  // with the added tokens
  std::vector<AddedToken> added;
  std::vector<Normalizer> normalizers;
  std::vector<PreTokenizer> pre_tokenizers;
  std::unique_ptr<Model> model;
  bool is_bpe = false;
  PostTemplate post;
  Decoder decoder;
  SpecialIds special;
  std::vector<int32_t> more_special;  // control tokens that are not looked for in text, but are special when decoded
  std::vector<int32_t> stop_ids;      // empty: found by name
  std::optional<std::string> chat_template;
};

// A template of tokens before and after a text, the same around each of a pair.
PostTemplate surround(std::vector<int32_t> before, std::vector<int32_t> after);

// Ids of the tokens whose names are known ends of a turn.
std::vector<int32_t> find_stop_ids(const TokenizerParts& parts);

}  // namespace headrace
