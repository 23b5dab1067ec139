#include "text/tokenizer_json_parts.h"

#include "text/charsmap.h"
#include "text/unicode.h"

namespace headrace {
namespace {

constexpr std::string_view kWhere = "tokenizer.json";
constexpr int64_t kMaxCount = 1 << 20;

[[noreturn]] void unsupported(std::string_view part, const std::string& type) {
  fail(ErrorCode::kUnsupported, "{}: {} '{}' is not known here", kWhere, part, printable(type));
}

// Calls f for each element of a (nested) Sequence. JSON is at most kMaxJsonDepth deep, so this recursion is too.
template <typename F>
void for_each_in_sequence(const Json& json, const char* list, F&& f) {
  if (json.is_null()) return;
  const auto type = require<std::string>(json, "type", kWhere);
  if (type != "Sequence") return f(json, type);
  const auto elements = json.find(list);
  if (elements == json.end() || !elements->is_array()) invalid("{}: a Sequence without '{}'", kWhere, list);
  for (const Json& element : *elements) for_each_in_sequence(element, list, f);
}

struct Pattern {
  bool is_regex;
  std::string text;
};

Pattern parse_pattern(const Json& json) {
  const auto found = json.find("pattern");
  if (found != json.end() && found->is_string()) return {false, found->get<std::string>()};
  if (found == json.end() || !found->is_object()) invalid("{}: 'pattern' is missing", kWhere);
  if (const auto text = find<std::string>(*found, "String", kWhere)) return {false, *text};
  if (const auto text = find<std::string>(*found, "Regex", kWhere)) return {true, *text};
  invalid("{}: a pattern is neither a String nor a Regex", kWhere);
}

SplitBehavior parse_behavior(const Json& json, const char* fallback) {
  const auto name = find_or<std::string>(json, "behavior", fallback, kWhere);
  if (name == "Removed") return SplitBehavior::kRemoved;
  if (name == "Isolated") return SplitBehavior::kIsolated;
  if (name == "MergedWithPrevious") return SplitBehavior::kMergedWithPrevious;
  if (name == "MergedWithNext") return SplitBehavior::kMergedWithNext;
  if (name == "Contiguous") return SplitBehavior::kContiguous;
  unsupported("split behavior", name);
}

Normalizer parse_bert(const Json& json) {
  BertNormalizerOptions options;
  options.clean_text = find_or<bool>(json, "clean_text", true, kWhere);
  options.space_chinese = find_or<bool>(json, "handle_chinese_chars", true, kWhere);
  options.lowercase = find_or<bool>(json, "lowercase", true, kWhere);
  options.strip_accents = find_or<bool>(json, "strip_accents", options.lowercase, kWhere);
  return bert_normalizer(options);
}

void parse_one_normalizer(const Json& json, const std::string& type, std::vector<Normalizer>& out) {
  if (type == "NFC") return out.push_back(normal_form(NormalForm::kNfc));
  if (type == "NFD") return out.push_back(normal_form(NormalForm::kNfd));
  if (type == "NFKC") return out.push_back(normal_form(NormalForm::kNfkc));
  if (type == "NFKD") return out.push_back(normal_form(NormalForm::kNfkd));
  if (type == "Lowercase") return out.push_back(lowercase());
  if (type == "StripAccents") return out.push_back(strip_accents());
  if (type == "Nmt") return out.push_back(nmt());
  if (type == "ByteLevel") return out.push_back(byte_alphabet());
  if (type == "BertNormalizer") return out.push_back(parse_bert(json));
  if (type == "Prepend") return out.push_back(prepend(require<std::string>(json, "prepend", kWhere)));
  if (type == "Strip") {
    return out.push_back(strip_whitespace(
        {.left = find_or<bool>(json, "strip_left", true, kWhere), .right = find_or<bool>(json, "strip_right", true, kWhere)}));
  }
  if (type == "Replace") {
    const Pattern pattern = parse_pattern(json);
    auto content = require<std::string>(json, "content", kWhere);
    if (pattern.is_regex) return out.push_back(replace(Regex(pattern.text, kWhere), std::move(content)));
    return out.push_back(replace(pattern.text, std::move(content)));
  }
  if (type == "Precompiled") {
    const auto map = find_or<std::string>(json, "precompiled_charsmap", "", kWhere);
    if (map.empty()) return;
    return out.push_back(charsmap(std::make_shared<const Charsmap>(base64_decode(map, "tokenizer.json, precompiled_charsmap"), kWhere)));
  }
  unsupported("normalizer", type);
}

PreTokenizer parse_split(const Json& json) {
  const Pattern pattern = parse_pattern(json);
  Finder finder = pattern.is_regex ? find_pattern(pattern.text, kWhere) : find_text(pattern.text);
  const bool inverted = find_or<bool>(json, "invert", false, kWhere);
  return split(std::move(finder), parse_behavior(json, "Isolated"), inverted ? SplitOn::kGaps : SplitOn::kMatches);
}

// Also decoders and older files, which say add_prefix_space instead of a scheme.
MetaspaceOptions parse_metaspace(const Json& json) {
  MetaspaceOptions options;
  options.replacement = find_or<std::string>(json, "replacement", options.replacement, kWhere);
  options.split = find_or<bool>(json, "split", true, kWhere);
  const auto scheme = find<std::string>(json, "prepend_scheme", kWhere);
  if (!scheme) {
    options.prepend = find_or<bool>(json, "add_prefix_space", true, kWhere) ? PrependScheme::kAlways : PrependScheme::kNever;
  } else if (*scheme == "always" || *scheme == "first" || *scheme == "never") {
    options.prepend = *scheme == "always" ? PrependScheme::kAlways : *scheme == "first" ? PrependScheme::kFirst : PrependScheme::kNever;
  } else {
    unsupported("prepend_scheme", *scheme);
  }
  return options;
}

void parse_one_pre_tokenizer(const Json& json, const std::string& type, std::vector<PreTokenizer>& out) {
  if (type == "ByteLevel") {
    return out.push_back(byte_level({.add_prefix_space = find_or<bool>(json, "add_prefix_space", true, kWhere),
                                     .use_regex = find_or<bool>(json, "use_regex", true, kWhere)}));
  }
  if (type == "Split") return out.push_back(parse_split(json));
  if (type == "Metaspace") return out.push_back(metaspace(parse_metaspace(json)));
  if (type == "Whitespace") {
    return out.push_back(
        split(find_regex(Regex(R"([\w\x{200c}\x{200d}]+|[^\w\x{200c}\x{200d}\s]+)", kWhere)), SplitBehavior::kRemoved, SplitOn::kGaps));
  }
  if (type == "WhitespaceSplit") return out.push_back(split(find_characters(is_whitespace), SplitBehavior::kRemoved));
  if (type == "Punctuation") return out.push_back(split(find_characters(is_punctuation), parse_behavior(json, "Isolated")));
  if (type == "Digits") {
    const bool each = find_or<bool>(json, "individual_digits", false, kWhere);
    return out.push_back(split(find_characters(is_numeric), each ? SplitBehavior::kIsolated : SplitBehavior::kContiguous));
  }
  if (type == "BertPreTokenizer") {
    out.push_back(split(find_characters(is_whitespace), SplitBehavior::kRemoved));
    return out.push_back(split(find_characters(is_punctuation), SplitBehavior::kIsolated));
  }
  if (type == "CharDelimiterSplit")
    return out.push_back(split(find_text(require<std::string>(json, "delimiter", kWhere)), SplitBehavior::kRemoved));
  if (type == "FixedLength") {
    const auto length = find_or<int64_t>(json, "length", 5, kWhere);
    if (length < 1 || length > kMaxCount) invalid("{}: FixedLength of {} characters", kWhere, length);
    return out.push_back(fixed_length(static_cast<size_t>(length)));
  }
  unsupported("pre-tokenizer", type);
}

size_t parse_count(const Json& json, const char* key) {
  const auto count = find_or<int64_t>(json, key, 0, kWhere);
  if (count < 0 || count > kMaxCount) invalid("{}: '{}' is {}", kWhere, key, count);
  return static_cast<size_t>(count);
}

void parse_one_decoder(const Json& json, const std::string& type, Decoder& out) {
  if (type == "ByteLevel") return void(out.byte_level());
  if (type == "ByteFallback") return void(out.byte_fallback_runs());
  if (type == "Fuse") return void(out.fuse());
  if (type == "Strip")
    return void(out.strip(find_or<std::string>(json, "content", " ", kWhere), parse_count(json, "start"), parse_count(json, "stop")));
  if (type == "Replace") {
    const Pattern pattern = parse_pattern(json);
    auto content = require<std::string>(json, "content", kWhere);
    if (pattern.is_regex) return void(out.replace(Regex(pattern.text, kWhere), std::move(content)));
    return void(out.replace(pattern.text, std::move(content)));
  }
  if (type == "Metaspace") {
    const MetaspaceOptions options = parse_metaspace(json);
    return void(out.metaspace(options.replacement, options.prepend != PrependScheme::kNever));
  }
  if (type == "WordPiece") {
    return void(out.wordpiece(
        {.prefix = find_or<std::string>(json, "prefix", "##", kWhere), .cleanup = find_or<bool>(json, "cleanup", true, kWhere)}));
  }
  if (type == "BPEDecoder") return void(out.word_suffix(find_or<std::string>(json, "suffix", "</w>", kWhere)));
  if (type == "CTC") {
    return void(out.ctc({.pad = find_or<std::string>(json, "pad_token", "<pad>", kWhere),
                         .delimiter = find_or<std::string>(json, "word_delimiter_token", "|", kWhere),
                         .cleanup = find_or<bool>(json, "cleanup", true, kWhere)}));
  }
  unsupported("decoder", type);
}

}  // namespace

void parse_normalizer(const Json& json, std::vector<Normalizer>& out) {
  for_each_in_sequence(json, "normalizers", [&](const Json& one, const std::string& type) { parse_one_normalizer(one, type, out); });
}

void parse_pre_tokenizer(const Json& json, std::vector<PreTokenizer>& out) {
  for_each_in_sequence(json, "pretokenizers", [&](const Json& one, const std::string& type) { parse_one_pre_tokenizer(one, type, out); });
}

Decoder parse_decoder(const Json& json) {
  Decoder decoder;
  if (json.is_null()) return decoder.join(" ");
  for_each_in_sequence(json, "decoders", [&](const Json& one, const std::string& type) { parse_one_decoder(one, type, decoder); });
  return decoder;
}

AddedToken parse_added_token(const Json& json, int32_t id, std::string_view where) {
  AddedToken token;
  token.id = id;
  token.content = require<std::string>(json, "content", where);
  token.single_word = find_or<bool>(json, "single_word", false, where);
  token.lstrip = find_or<bool>(json, "lstrip", false, where);
  token.rstrip = find_or<bool>(json, "rstrip", false, where);
  token.special = find_or<bool>(json, "special", false, where);
  token.normalized = find_or<bool>(json, "normalized", !token.special, where);
  return token;
}

std::vector<AddedToken> parse_added_tokens(const Json& json) {
  std::vector<AddedToken> tokens;
  if (json.is_null()) return tokens;
  if (!json.is_array()) invalid("{}: 'added_tokens' is no list", kWhere);
  for (const Json& entry : json) {
    const auto id = require<int64_t>(entry, "id", kWhere);
    if (id < 0 || id > INT32_MAX) invalid("{}: an added token with the id {}", kWhere, id);
    tokens.push_back(parse_added_token(entry, static_cast<int32_t>(id), kWhere));
  }
  return tokens;
}

}  // namespace headrace
