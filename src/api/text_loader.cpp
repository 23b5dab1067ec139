#include "api/text_loader.h"

#include <algorithm>

#include "core/context.h"
#include "core/json.h"
#include "core/mapped_file.h"
#include "headrace/engine.h"
#include "jinja/chat_template.h"
#include "text/assets.h"
#include "text/gguf_vocabulary.h"
#include "weights/folder.h"
#include "weights/gguf.h"
#include "weights/text_files.h"

namespace headrace {
namespace {

namespace fs = std::filesystem;

// The name under which a vocabulary file is understood, whatever it is called itself.
std::string canonical_name(const std::string& file) {
  if (file == "vocab.txt" || file.ends_with(".tiktoken")) return file;
  if (file.ends_with(".json")) return "tokenizer.json";
  if (file.ends_with(".model")) return "tokenizer.model";
  return "";
}

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

TextFiles find_text_files(const std::string& path) {
  if (!is_there(path))
    fail(ErrorCode::kNotFound, "{}: does not exist; wanted a model, a folder with a vocabulary or a vocabulary file", printable(path, 500));
  if (is_engine_file(path)) return read_engine_text(path);
  TextFiles text = read_text_files(path);
  if (text.empty() && !is_folder(path)) {
    const std::string name = canonical_name(fs::path(path).filename().string());
    if (name.empty())
      invalid("{}: is no vocabulary: wanted tokenizer.json, *.model, *.tiktoken, vocab.txt, a .gguf or a folder with one of them", path);
    const auto file = MappedFile::open(path);
    text.files[name] = {file->text(), file};
  }
  return text;
}

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

std::shared_ptr<const ChatTemplate> make_chat_template(const TextFiles& text, const Tokenizer& tokenizer) {
  Sources sources = template_files(text);
  if (std::none_of(sources.begin(), sources.end(), [](const auto& source) { return source.first == "default"; })) {
    const Sources values = template_values(text, tokenizer);
    sources.insert(sources.end(), values.begin(), values.end());
  }
  if (sources.empty()) return nullptr;
  return std::make_shared<const ChatTemplate>(std::make_unique<const jinja::ChatTemplate>(sources, tokenizer.named_tokens()));
}

// ---------------------------------------------------------------------------------------------------------------- the public doors

std::shared_ptr<const Tokenizer> load_tokenizer(const std::string& path) {
  const TextFiles files = find_text_files(path);
  if (files.empty())
    fail(ErrorCode::kNotFound, "{}: has no tokenizer files (tokenizer.json, tokenizer.model, *.tiktoken, vocab.txt or a GGUF's)", path);
  return with_context(path, [&] { return make_tokenizer(files); });
}

std::shared_ptr<const ChatTemplate> load_chat_template(const std::string& path) {
  const TextFiles files = find_text_files(path);
  if (files.empty()) return nullptr;
  return with_context(path, [&] { return make_chat_template(files, *make_tokenizer(files)); });
}

std::shared_ptr<const Tokenizer> load_tokenizer(const Engine& engine) {
  if (engine.text.empty()) return nullptr;
  return with_context(engine.origin, [&] { return make_tokenizer(engine.text); });
}

std::shared_ptr<const ChatTemplate> load_chat_template(const Engine& engine, const Tokenizer& tokenizer) {
  return with_context(engine.origin, [&] { return make_chat_template(engine.text, tokenizer); });
}

}  // namespace headrace
