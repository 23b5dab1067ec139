#include "text/tokenizer_config.h"

#include <algorithm>
#include <charconv>

#include "text/tokenizer_json_parts.h"

namespace headrace {
namespace {

constexpr std::string_view kConfig = "tokenizer_config.json";
constexpr const char* kSpecialKeys[] = {"bos_token", "eos_token", "unk_token", "pad_token", "sep_token", "cls_token", "mask_token"};

// A special token is written as a text, or as an object with its content.
void read_special(const Json& json, TokenizerConfig& config) {
  if (!json.is_object()) return;
  for (const char* key : kSpecialKeys) {
    const auto found = json.find(key);
    if (found == json.end() || config.special.contains(key)) continue;
    if (found->is_string()) config.special[key] = found->get<std::string>();
    if (found->is_object()) {
      if (const auto content = find<std::string>(*found, "content", kConfig)) config.special[key] = *content;
    }
  }
  for (const char* key : {"additional_special_tokens", "extra_special_tokens"}) {
    const auto list = json.find(key);
    if (list == json.end() || !list->is_array()) continue;
    for (const Json& entry : *list) {
      if (entry.is_string()) config.more_special.insert(entry.get<std::string>());
      if (entry.is_object()) config.more_special.insert(find_or<std::string>(entry, "content", "", kConfig));
    }
  }
}

// A text, or a list of {name, template}.
std::optional<std::string> read_template(const Json& json) {
  const auto found = json.find("chat_template");
  if (found == json.end()) return std::nullopt;
  if (found->is_string()) return found->get<std::string>();
  if (!found->is_array()) return std::nullopt;
  std::optional<std::string> first;
  for (const Json& entry : *found) {
    const auto text = find<std::string>(entry, "template", kConfig);
    if (!text) continue;
    if (find_or<std::string>(entry, "name", "", kConfig) == "default") return text;
    if (!first) first = text;
  }
  return first;
}

void read_added(const Json& json, TokenizerConfig& config) {
  const auto table = json.find("added_tokens_decoder");
  if (table == json.end() || !table->is_object()) return;
  for (const auto& [key, entry] : table->items()) {
    int32_t id = -1;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), id);
    if (error != std::errc() || end != key.data() + key.size() || id < 0)
      invalid("{}: added_tokens_decoder: '{}' is no token id", kConfig, printable(key));
    config.added.push_back(parse_added_token(entry, id, kConfig));
  }
}

// {"<|token|>": 32000}: how added tokens were written before there was an added_tokens_decoder.
void read_added_tokens_json(const std::string& text, TokenizerConfig& config) {
  constexpr std::string_view kWhere = "added_tokens.json";
  const Json json = parse_json(text, kWhere);
  if (!json.is_object()) invalid("{}: wanted an object from tokens to ids, found {}", kWhere, json.type_name());
  for (const auto& [content, value] : json.items()) {
    const auto id = require<int64_t>(json, content.c_str(), kWhere);
    if (id < 0 || id > INT32_MAX) invalid("{}: '{}' has the id {}", kWhere, printable(content), id);
    const auto named = [&](const auto& entry) { return entry.second == content; };
    const bool special = std::any_of(config.special.begin(), config.special.end(), named) || config.more_special.contains(content);
    config.legacy_added.push_back({.id = static_cast<int32_t>(id), .content = content, .normalized = !special, .special = special});
  }
}

// An added token replaces one of the same id; one whose text already has another id is left out.
void add_token(const AddedToken& token, TokenizerParts& parts) {
  Vocabulary& vocabulary = *parts.vocabulary;
  const auto known = vocabulary.find(token.content);
  if (known && *known != token.id) return;
  if (!known) {
    if (vocabulary.has(token.id)) return;
    vocabulary.set(token.id, token.content);
  }
  const auto same = std::find_if(parts.added.begin(), parts.added.end(), [&](const AddedToken& other) { return other.id == token.id; });
  if (same == parts.added.end()) {
    parts.added.push_back(token);
  } else {
    *same = token;
  }
}

}  // namespace

TokenizerConfig TokenizerConfig::read(const TextAssets& assets) {
  TokenizerConfig config;
  const auto file = [&](const char* name) -> const std::string* {
    const auto found = assets.files.find(name);
    return found == assets.files.end() ? nullptr : &found->second;
  };
  if (const std::string* text = file("tokenizer_config.json")) {
    const Json json = parse_json(*text, kConfig);
    if (!json.is_object()) invalid("{}: wanted a JSON object, found {}", kConfig, json.type_name());
    config.tokenizer_class = find_or<std::string>(json, "tokenizer_class", "", kConfig);
    if (!file("tokenizer.json")) {  // which says itself what surrounds a text; transformers 5 listens to nothing else
      config.add_bos = find<bool>(json, "add_bos_token", kConfig);
      config.add_eos = find<bool>(json, "add_eos_token", kConfig);
    }
    config.add_prefix_space = find<bool>(json, "add_prefix_space", kConfig);
    config.legacy = find<bool>(json, "legacy", kConfig);
    config.do_lower_case = find<bool>(json, "do_lower_case", kConfig);
    config.strip_accents = find<bool>(json, "strip_accents", kConfig);
    config.tokenize_chinese_chars = find<bool>(json, "tokenize_chinese_chars", kConfig);
    config.clean_up_spaces = find<bool>(json, "clean_up_tokenization_spaces", kConfig);
    config.chat_template = read_template(json);
    read_special(json, config);
    read_added(json, config);
  }
  if (const std::string* text = file("special_tokens_map.json")) read_special(parse_json(*text, "special_tokens_map.json"), config);
  if (const std::string* text = file("added_tokens.json"); text && config.added.empty()) read_added_tokens_json(*text, config);
  if (const std::string* text = file("chat_template.jinja")) config.chat_template = *text;
  if (const std::string* text = file("chat_template.json"); text && !config.chat_template)
    config.chat_template = read_template(parse_json(*text, "chat_template.json"));
  return config;
}

void apply_config(const TokenizerConfig& config, TokenizerParts& parts) {
  for (const AddedToken& token : config.added) add_token(token, parts);
  for (const AddedToken& token : config.legacy_added) {  // what the vocabulary's own file says of a token is stronger
    const bool known = std::any_of(parts.added.begin(), parts.added.end(), [&](const AddedToken& other) { return other.id == token.id; });
    if (!known) add_token(token, parts);
  }
  const auto id_of = [&](const char* key) -> std::optional<int32_t> {
    const auto found = config.special.find(key);
    return found == config.special.end() ? std::nullopt : parts.vocabulary->find(found->second);
  };
  const std::pair<const char*, std::optional<int32_t>*> targets[] = {{"bos_token", &parts.special.bos},  {"eos_token", &parts.special.eos},
                                                                     {"unk_token", &parts.special.unk},  {"pad_token", &parts.special.pad},
                                                                     {"sep_token", &parts.special.sep},  {"cls_token", &parts.special.cls},
                                                                     {"mask_token", &parts.special.mask}};
  for (const auto& [key, target] : targets) {
    const auto id = id_of(key);
    if (!id) continue;
    *target = *id;
    const bool known = std::any_of(parts.added.begin(), parts.added.end(), [&](const AddedToken& token) { return token.id == *id; });
    if (!known) add_token({.id = *id, .content = config.special.at(key), .normalized = false, .special = true}, parts);
  }
  for (const std::string& content : config.more_special) {
    const auto id = parts.vocabulary->find(content);
    const bool known = std::any_of(parts.added.begin(), parts.added.end(), [&](const AddedToken& token) { return token.id == id; });
    if (id && !known) add_token({.id = *id, .content = content, .normalized = false, .special = true}, parts);
  }
  using Kind = TemplatePart::Kind;
  const bool had_template = parts.post.adds_tokens();
  const std::optional<int32_t> bos = parts.special.bos, eos = parts.special.eos;
  const bool has_bos = bos && parts.post.single.front().kind == Kind::kTokens && parts.post.single.front().ids.front() == *bos;
  const bool has_eos = eos && parts.post.single.back().kind == Kind::kTokens && parts.post.single.back().ids.back() == *eos;
  const bool want_bos = bos && config.add_bos.value_or(has_bos), want_eos = eos && config.add_eos.value_or(has_eos);
  if ((want_bos != has_bos || want_eos != has_eos) && (!had_template || has_bos || has_eos)) {
    parts.post = surround(want_bos ? std::vector{*bos} : std::vector<int32_t>{}, want_eos ? std::vector{*eos} : std::vector<int32_t>{});
  }
  // Cleaning is lossy; Hugging Face does it where the configuration says so, but no longer for byte-pair encodings.
  if (config.clean_up_spaces.value_or(false) && !parts.is_bpe) parts.decoder.cleanup();
  if (config.chat_template) parts.chat_template = config.chat_template;
}

}  // namespace headrace
