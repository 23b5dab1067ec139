#include "weights/text_files.h"

#include <algorithm>
#include <filesystem>

#include "core/mapped_file.h"
#include "weights/checkpoint.h"
#include "weights/folder.h"
#include "weights/gguf.h"

namespace headrace {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNames[] = {"tokenizer.json",
                                       "tokenizer_config.json",
                                       "special_tokens_map.json",
                                       "added_tokens.json",
                                       "tokenizer.model",
                                       "spiece.model",
                                       "sentencepiece.bpe.model",
                                       "vocab.json",
                                       "merges.txt",
                                       "vocab.txt",
                                       "chat_template.jinja",
                                       "chat_template.json"};

bool is_text_file(std::string_view name) {
  return name.ends_with(".tiktoken") || std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

}  // namespace

TextFiles gguf_text_files(const GgufFile& file) {
  if (!file.has("tokenizer.ggml.tokens")) return {};
  const auto metadata = std::make_shared<const std::string>(file.metadata_only());
  return {.name = folder_name(file.where()), .files = {{std::string(kGgufVocabulary), TextFile{*metadata, metadata}}}};
}

TextFiles read_text_files(const std::string& path) {
  if (is_gguf(path)) return gguf_text_files(GgufFile::open(path));
  TextFiles text{.name = folder_name(path), .files = {}};
  if (!is_folder(path)) return text;
  for (const fs::path& entry : list_folder(path)) {
    const std::string name = entry.filename().string();
    if (!is_text_file(name) || is_folder(entry)) continue;
    const auto file = MappedFile::open(entry.string());
    text.files[name] = {file->text(), file};
  }
  if (const fs::path templates = fs::path(path) / kTemplateFolder; is_folder(templates))
    for (const fs::path& entry : list_folder(templates))
      if (entry.extension() == ".jinja" && !is_folder(entry)) {
        const auto file = MappedFile::open(entry.string());
        text.files[std::string(kTemplateFolder) + entry.filename().string()] = {file->text(), file};
      }
  if (!text.empty()) return text;
  const std::string gguf = only_gguf(path);
  return gguf.empty() ? text : gguf_text_files(GgufFile::open(gguf));
}

}  // namespace headrace
