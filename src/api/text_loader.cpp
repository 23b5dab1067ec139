#include "api/text_loader.h"

#include <algorithm>

#include "core/json.h"
#include "text/assets.h"
#include "text/gguf_vocabulary.h"
#include "weights/gguf.h"

namespace headrace {
namespace {

GgufVocabulary vocabulary_of(const GgufFile& file) {
  const auto key = [](const char* name) { return std::string("tokenizer.ggml.") + name; };
  GgufVocabulary v;
  v.model = file.string(key("model")).value_or("");
  v.pre = file.string(key("pre")).value_or("");
  v.tokens = file.strings(key("tokens")).value_or(std::vector<std::string_view>());
  for (double score : file.reals(key("scores")).value_or(std::vector<double>())) v.scores.push_back(float(score));
  for (int64_t type : file.integers(key("token_type")).value_or(std::vector<int64_t>())) v.types.push_back(int32_t(type));
  v.merges = file.strings(key("merges")).value_or(std::vector<std::string_view>());
  v.bos = file.integer(key("bos_token_id")), v.eos = file.integer(key("eos_token_id")), v.eot = file.integer(key("eot_token_id"));
  v.eom = file.integer(key("eom_token_id")), v.unk = file.integer(key("unknown_token_id")), v.sep = file.integer(key("seperator_token_id"));
  v.pad = file.integer(key("padding_token_id")), v.mask = file.integer(key("mask_token_id"));
  v.add_bos = file.boolean(key("add_bos_token")), v.add_eos = file.boolean(key("add_eos_token"));
  v.add_space_prefix = file.boolean(key("add_space_prefix"));
  v.remove_extra_whitespaces = file.boolean(key("remove_extra_whitespaces"));
  v.escape_whitespaces = file.boolean(key("escape_whitespaces"));
  v.treat_whitespace_as_suffix = file.boolean(key("treat_whitespace_as_suffix"));
  v.lowercase = file.boolean(key("normalizer.lowercase")), v.strip_accents = file.boolean(key("normalizer.strip_accents"));
  for (const GgufValue& value : file.metadata())
    if (value.key == key("precompiled_charsmap"))
      v.precompiled_charsmap = {reinterpret_cast<const char*>(value.bytes.data()), value.bytes.size()};
  v.chat_template = file.string("tokenizer.chat_template");
  v.model_name = file.string("general.name").value_or("");
  return v;
}

}  // namespace

std::shared_ptr<const Tokenizer> make_tokenizer(const TextFiles& text) {
  if (const std::optional<std::string_view> vocabulary = text.find(kGgufVocabulary)) {
    // GGUF is parsed where its words are aligned.
    const std::string_view bytes = *vocabulary;
    std::vector<uint64_t> aligned;
    std::span<const std::byte> where = std::as_bytes(std::span(bytes));
    if (reinterpret_cast<uintptr_t>(bytes.data()) % 8 != 0) {
      aligned.resize(bytes.size() / 8 + 1);
      std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(aligned.data()));
      where = std::as_bytes(std::span(aligned)).first(bytes.size());
    }
    const GgufFile file = GgufFile::parse(where, text.name);
    return gguf_tokenizer(vocabulary_of(file));
  }
  TextAssets assets{.name = text.name, .files = {}};
  for (const auto& [file, content] : text.files) assets.files[file] = std::string(content.bytes);
  return load_tokenizer(assets);
}

namespace {

using Sources = std::vector<jinja::ChatTemplate::NamedSource>;

// Templates in files of their own.
Sources template_files(const TextFiles& text) {
  Sources sources;
  if (const auto source = text.find("chat_template.jinja")) sources.emplace_back("default", *source);
  for (const auto& [name, file] : text.files) {
    if (!name.starts_with(kTemplateFolder)) continue;
    const std::string_view stem = std::string_view(name).substr(kTemplateFolder.size());
    sources.emplace_back(stem.substr(0, stem.rfind('.')), file.bytes);
  }
  return sources;
}

// Those of a configuration, or of a GGUF.
Sources template_values(const TextFiles& text, const Tokenizer& tokenizer) {
  for (const char* name : {"tokenizer_config.json", "chat_template.json"}) {
    const auto file = text.find(name);
    if (!file) continue;
    const Json config = parse_json(*file, name);
    if (!config.is_object() || !config.contains("chat_template") || config["chat_template"].is_null()) continue;
    return jinja::ChatTemplate::sources_from_json(config["chat_template"], name);
  }
  if (tokenizer.chat_template()) return {{"default", *tokenizer.chat_template()}};
  return {};
}

}  // namespace

std::shared_ptr<const jinja::ChatTemplate> make_chat_template(const TextFiles& text, const Tokenizer& tokenizer) {
  Sources sources = template_files(text);
  if (std::none_of(sources.begin(), sources.end(), [](const auto& source) { return source.first == "default"; })) {
    const Sources values = template_values(text, tokenizer);
    sources.insert(sources.end(), values.begin(), values.end());
  }
  return sources.empty() ? nullptr : std::make_shared<const jinja::ChatTemplate>(sources, tokenizer.named_tokens());
}

}  // namespace headrace
