// The files that a tokenizer and a chat template are made from, as bytes by name.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace headrace {

class GgufFile;

struct TextFile {
  std::string_view bytes;
  std::shared_ptr<const void> owner;  // of the bytes
};
struct TextFiles {
  std::string name;  // of the folder: where a tokenizer's files hold ranks alone, it says how they cut text
  std::map<std::string, TextFile, std::less<>> files;

  bool empty() const { return files.empty(); }
  std::optional<std::string_view> find(std::string_view file) const {
    const auto it = files.find(file);
    return it == files.end() ? std::nullopt : std::optional(it->second.bytes);
  }
};

inline constexpr std::string_view kGgufVocabulary = "vocabulary.gguf";
inline constexpr std::string_view kTemplateFolder = "additional_chat_templates/";

// Of a folder: tokenizer.json, tokenizer_config.json, special_tokens_map.json, added_tokens.json, tokenizer.model (and T5's and XLM-R's
// names for it), vocab.json, merges.txt, vocab.txt, chat_template.jinja, chat_template.json, *.tiktoken and (under the folder's name and
// theirs) additional_chat_templates/*.jinja, as far as they are there; when there are none, the metadata of its only GGUF, under
// kGgufVocabulary. Of a .gguf: its metadata. Of anything else no files, but the name of the folder that holds it.
TextFiles read_text_files(const std::string& path);
TextFiles gguf_text_files(const GgufFile& file);

}  // namespace headrace
