#include "text/assets.h"

#include <filesystem>

#include "core/error.h"
#include "core/mapped_file.h"
#include "text/tokenizer_config.h"
#include "text/tokenizer_files.h"
#include "text/tokenizer_json.h"

namespace headrace {
namespace {

constexpr const char* kFileNames[] = {"tokenizer.json",
                                      "tokenizer_config.json",
                                      "special_tokens_map.json",
                                      "tokenizer.model",
                                      "spiece.model",
                                      "sentencepiece.bpe.model",
                                      "vocab.txt",
                                      "vocab.json",
                                      "merges.txt",
                                      "chat_template.jinja",
                                      "chat_template.json",
                                      "added_tokens.json"};

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

TextAssets load_text_assets(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(folder, error)) fail(ErrorCode::kNotFound, "{}: no such folder", printable(folder));
  TextAssets assets;
  const fs::path path = fs::path(folder).lexically_normal();
  assets.name = (path.has_filename() ? path : path.parent_path()).filename().string();
  const auto read = [&](const fs::path& file) {
    if (fs::is_regular_file(file, error)) assets.files[file.filename().string()] = std::string(MappedFile::open(file.string())->text());
  };
  for (const char* name : kFileNames) read(path / name);
  for (const auto& entry : fs::directory_iterator(path, error))
    if (entry.path().extension() == ".tiktoken") read(entry.path());
  return assets;
}

std::shared_ptr<const Tokenizer> load_tokenizer(const TextAssets& assets) {
  const TokenizerConfig config = TokenizerConfig::read(assets);
  TokenizerParts parts = read_parts(assets, config);
  apply_config(config, parts);
  return std::make_shared<const Tokenizer>(std::move(parts));
}

}  // namespace headrace
