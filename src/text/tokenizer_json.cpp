#include "text/tokenizer_json.h"

#include <algorithm>

#include "core/utf8.h"
#include "text/tokenizer_json_parts.h"
#include "text/tokenizer_json_reader.h"

namespace headrace {
namespace {

constexpr std::string_view kWhere = "tokenizer.json, model";
constexpr double kUnknownPenalty = 10;  // an unknown character scores this much below the worst token

std::vector<bool> flags_of(const std::vector<AddedToken>& added, int32_t size) {
  std::vector<bool> special(static_cast<size_t>(size));
  for (const AddedToken& token : added)
    if (token.special && token.id < size) special[static_cast<size_t>(token.id)] = true;
  return special;
}

// Special tokens that users' text must not give by itself. Single characters stay: some tokenizers pad with "!".
std::vector<bool> excluded_ids(const Vocabulary& vocabulary, const std::vector<AddedToken>& added) {
  std::vector<bool> excluded = flags_of(added, vocabulary.size());
  for (int32_t id = 0; id < vocabulary.size(); ++id)
    if (excluded[static_cast<size_t>(id)] && vocabulary.text(id).size() <= 1) excluded[static_cast<size_t>(id)] = false;
  return excluded;
}

std::optional<int32_t> unknown_id(const Json& model, const Vocabulary& vocabulary) {
  const auto token = find<std::string>(model, "unk_token", kWhere);
  if (!token) return std::nullopt;
  return vocabulary.find(*token);
}

// What stands around each character of a word, and is spelt out in bytes with it.
std::string short_text(const Json& model, const char* key, const char* fallback) {
  constexpr size_t kMostBytes = 256;
  auto text = find_or<std::string>(model, key, fallback, kWhere);
  if (text.size() > kMostBytes) invalid("{}: '{}' has {} bytes, at most {} are possible", kWhere, key, text.size(), kMostBytes);
  return text;
}

std::vector<Merge> resolve_merges(const TokenizerJson& json, const Vocabulary& vocabulary, const std::string& prefix) {
  std::vector<Merge> merges;
  merges.reserve(json.merges.size());
  std::string joined;
  for (const auto& span : json.merges) {
    const std::string_view text = json.merge_text;
    const std::string_view left = text.substr(span.begin, span.middle - span.begin),
                           right = text.substr(span.middle, span.end - span.middle);
    std::string_view whole = text.substr(span.begin, span.end - span.begin);
    if (!prefix.empty() && right.starts_with(prefix)) {
      joined.assign(left).append(right.substr(prefix.size()));
      whole = joined;
    }
    const auto left_id = vocabulary.find(left), right_id = vocabulary.find(right), result = vocabulary.find(whole);
    if (!left_id || !right_id || !result)
      invalid("{}: the merge of '{}' and '{}' names a token that is not in the vocabulary", kWhere, printable(left), printable(right));
    merges.push_back({*left_id, *right_id, *result});
  }
  return merges;
}

std::unique_ptr<Model> make_bpe(const Json& model, const TokenizerJson& json, std::shared_ptr<const Vocabulary> vocabulary,
                                const std::vector<AddedToken>& added) {
  BpeOptions options;
  options.unknown.unknown = unknown_id(model, *vocabulary);
  options.unknown.fuse = find_or<bool>(model, "fuse_unk", false, kWhere);
  options.unknown.byte_fallback = find_or<bool>(model, "byte_fallback", false, kWhere);
  options.ignore_merges = find_or<bool>(model, "ignore_merges", false, kWhere);
  options.continuing_prefix = short_text(model, "continuing_subword_prefix", "");
  options.end_of_word_suffix = short_text(model, "end_of_word_suffix", "");
  for (const AddedToken& token : added)
    if (token.special) options.never_whole.insert(token.id);
  const auto merges = resolve_merges(json, *vocabulary, options.continuing_prefix);
  return bpe_model(std::move(vocabulary), merges, std::move(options));
}

std::unique_ptr<Model> make_unigram(const Json& model, const TokenizerJson& json, std::shared_ptr<const Vocabulary> vocabulary,
                                    const std::vector<AddedToken>& added) {
  if (!json.vocab_is_list || json.scores.empty()) invalid("{}: a Unigram model wants a list of [token, score] as vocab", kWhere);
  UnigramOptions options;
  if (const auto id = find<int64_t>(model, "unk_id", kWhere)) {
    if (*id < 0 || *id >= vocabulary->size()) invalid("{}: unk_id is {}, there are {} tokens", kWhere, *id, vocabulary->size());
    options.unknown.unknown = static_cast<int32_t>(*id);
  }
  options.unknown.fuse = true;
  options.unknown.byte_fallback = find_or<bool>(model, "byte_fallback", false, kWhere);
  options.unknown_score = *std::min_element(json.scores.begin(), json.scores.end()) - kUnknownPenalty;
  options.excluded = excluded_ids(*vocabulary, added);
  if (options.unknown.unknown) options.excluded[static_cast<size_t>(*options.unknown.unknown)] = true;
  return unigram_model(std::move(vocabulary), json.scores, std::move(options));
}

std::unique_ptr<Model> make_wordpiece(const Json& model, std::shared_ptr<const Vocabulary> vocabulary,
                                      const std::vector<AddedToken>& added) {
  WordPieceOptions options;
  const auto token = find_or<std::string>(model, "unk_token", "[UNK]", kWhere);
  const auto unknown = vocabulary->find(token);
  if (!unknown) invalid("{}: the unk_token '{}' is not in the vocabulary", kWhere, printable(token));
  options.unknown = *unknown;
  options.continuing_prefix = short_text(model, "continuing_subword_prefix", "##");
  const auto most = find_or<int64_t>(model, "max_input_chars_per_word", 100, kWhere);
  options.max_characters = static_cast<size_t>(std::clamp<int64_t>(most, 0, 1 << 20));
  options.excluded = excluded_ids(*vocabulary, added);
  return wordpiece_model(std::move(vocabulary), std::move(options));
}

// Older files do not say.
std::string model_type(const Json& model, const TokenizerJson& json) {
  if (const auto type = find<std::string>(model, "type", kWhere)) return *type;
  if (!json.merges.empty() || model.contains("fuse_unk")) return "BPE";
  if (json.vocab_is_list) return "Unigram";
  return model.contains("continuing_subword_prefix") || model.contains("max_input_chars_per_word") ? "WordPiece" : "WordLevel";
}

const Json& member(const Json& root, const char* key) {
  static const Json kNull;
  const auto found = root.find(key);
  return found == root.end() ? kNull : *found;
}

}  // namespace

TokenizerParts parse_tokenizer_json(std::string_view text) {
  TokenizerJson json = read_tokenizer_json(text);
  const Json& model = member(json.root, "model");
  if (!model.is_object()) invalid("tokenizer.json: 'model' is missing");
  TokenizerParts parts;
  parts.added = parse_added_tokens(member(json.root, "added_tokens"));
  *parts.vocabulary = std::move(json.vocabulary);
  // The model sees the vocabulary without the tokens that were added to it.
  const auto model_vocabulary = std::make_shared<const Vocabulary>(*parts.vocabulary);
  const std::string type = model_type(model, json);
  parts.is_bpe = type == "BPE";
  if (type == "BPE") {
    parts.model = make_bpe(model, json, model_vocabulary, parts.added);
  } else if (type == "Unigram") {
    parts.model = make_unigram(model, json, model_vocabulary, parts.added);
  } else if (type == "WordPiece") {
    parts.model = make_wordpiece(model, model_vocabulary, parts.added);
  } else if (type == "WordLevel") {
    parts.model = word_level_model(model_vocabulary, unknown_id(model, *model_vocabulary));
  } else {
    fail(ErrorCode::kUnsupported, "{}: type '{}', wanted BPE, Unigram, WordPiece or WordLevel", kWhere, printable(type));
  }
  if (model_vocabulary->size() == 0 && parts.added.empty()) invalid("{}: the vocabulary is empty", kWhere);
  for (const AddedToken& token : parts.added)
    if (parts.vocabulary->text(token.id) != token.content || !parts.vocabulary->has(token.id))
      parts.vocabulary->set(token.id, token.content);
  parse_normalizer(member(json.root, "normalizer"), parts.normalizers);
  parse_pre_tokenizer(member(json.root, "pre_tokenizer"), parts.pre_tokenizers);
  parts.post = parse_post_processor(member(json.root, "post_processor"));
  parts.decoder = parse_decoder(member(json.root, "decoder"));
  parts.special.unk = type == "Unigram" && find<int64_t>(model, "unk_id", kWhere)
                          ? std::optional(static_cast<int32_t>(require<int64_t>(model, "unk_id", kWhere)))
                          : unknown_id(model, *parts.vocabulary);
  return parts;
}

}  // namespace headrace
