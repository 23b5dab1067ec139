#include "text/assets.h"

#include "core/error.h"
#include "text/tokenizer_config.h"
#include "text/tokenizer_files.h"
#include "text/tokenizer_json.h"

namespace headrace {
namespace {

TokenizerParts read_parts(const TextAssets& assets, const TokenizerConfig& config) {
  const auto file = [&](const char* name) -> const std::string* {
    const auto found = assets.files.find(name);
    return found == assets.files.end() ? nullptr : &found->second;
  };
  if (const auto* text = file("tokenizer.json")) return parse_tokenizer_json(*text);
  for (const char* name : {"tokenizer.model", "spiece.model", "sentencepiece.bpe.model"}) {
    if (const auto* bytes = file(name))
      return looks_like_ranks(*bytes) ? read_ranks(*bytes, assets.name) : read_sentencepiece(*bytes, name, config);
  }
  for (const auto& [name, bytes] : assets.files) {
    if (!name.ends_with(".tiktoken")) continue;
    const std::string stem = name.substr(0, name.size() - std::string_view(".tiktoken").size());
    return read_ranks(bytes, knows_ranks(stem) ? stem : assets.name);
  }
  if (const auto* vocab = file("vocab.json")) {
    const auto* merges = file("merges.txt");
    if (!merges) fail(ErrorCode::kNotFound, "{}: vocab.json without merges.txt", printable(assets.name));
    return read_vocab_and_merges(*vocab, *merges, config);
  }
  if (const auto* vocab = file("vocab.txt")) return read_vocab_txt(*vocab, config);
  fail(ErrorCode::kNotFound, "{}: no vocabulary: wanted tokenizer.json, tokenizer.model, *.tiktoken, vocab.json or vocab.txt",
       printable(assets.name));
}

}  // namespace

std::shared_ptr<const Tokenizer> load_tokenizer(const TextAssets& assets) {
  const TokenizerConfig config = TokenizerConfig::read(assets);
  TokenizerParts parts = read_parts(assets, config);
  apply_config(config, parts);
  return std::make_shared<const Tokenizer>(std::move(parts));
}

}  // namespace headrace
