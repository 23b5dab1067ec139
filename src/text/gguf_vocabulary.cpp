#include "text/gguf_vocabulary.h"

#include <algorithm>
#include <limits>

#include "core/error.h"
#include "text/byte_trie.h"
#include "text/charsmap.h"
#include "text/pre_tokenizer_names.h"
#include "text/tokenizer_parts.h"
#include "text/unicode.h"

namespace headrace {
namespace {

constexpr std::string_view kEscapedSpace = "\xe2\x96\x81";  // U+2581
constexpr double kUnknownPenalty = 10;

class Builder {
 public:
  explicit Builder(const GgufVocabulary& source) : source_(source) {
    const size_t count = source.tokens.size();
    if (count == 0) invalid("GGUF: tokenizer.ggml.tokens is empty or missing");
    if (count > INT32_MAX / 2) invalid("GGUF: {} tokens are too many", count);
    if (!source.scores.empty() && source.scores.size() < count) invalid("GGUF: {} tokens, but {} scores", count, source.scores.size());
    if (!source.types.empty() && source.types.size() < count) invalid("GGUF: {} tokens, but {} token types", count, source.types.size());
    size_t bytes = 0;
    for (const std::string_view token : source.tokens) bytes += token.size();
    parts_.vocabulary->reserve(count, bytes);
    for (const std::string_view token : source.tokens) parts_.vocabulary->add(token);
  }

  TokenizerParts build() {
    add_special_tokens();
    if (source_.model == "gpt2" || source_.model == "gemma4") {
      build_bpe(source_.model == "gemma4" ? "gemma4" : source_.pre);
    } else if (source_.model == "llama") {
      build_spm();
    } else if (source_.model == "bert") {
      build_wpm();
    } else if (source_.model == "t5") {
      build_ugm();
    } else {
      fail(ErrorCode::kUnsupported, "GGUF: tokenizer.ggml.model is '{}', wanted gpt2, llama, bert, t5 or gemma4", printable(source_.model));
    }
    if (source_.chat_template) parts_.chat_template = std::string(*source_.chat_template);
    if (source_.model != "bert") surround_with(source_.add_bos.value_or(add_bos_), source_.add_eos.value_or(add_eos_));
    add_stop_ids();
    return std::move(parts_);
  }

 private:
  GgufTokenType type(size_t id) const {
    if (source_.types.empty()) return GgufTokenType::kNormal;
    const int32_t type = source_.types[id];
    return type >= 0 && type <= static_cast<int32_t>(GgufTokenType::kByte) ? static_cast<GgufTokenType>(type) : GgufTokenType::kUndefined;
  }
  bool is_control(size_t id) const { return type(id) == GgufTokenType::kControl || type(id) == GgufTokenType::kUnknown; }
  std::vector<bool> ids_where(bool (*test)(GgufTokenType)) const {
    std::vector<bool> flags(source_.tokens.size());
    for (size_t id = 0; id < flags.size(); ++id) flags[id] = test(type(id));
    return flags;
  }
  // Tokens that the text never gives by itself.
  std::vector<bool> excluded() const {
    return ids_where(
        [](GgufTokenType t) { return t == GgufTokenType::kControl || t == GgufTokenType::kUnknown || t == GgufTokenType::kByte; });
  }

  void add_special_tokens() {
    std::string name(source_.model_name);
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const bool is_phi3 = name.find("phi-3") != std::string::npos || name.find("phi3") != std::string::npos;
    const bool mask_takes_space = source_.pre.starts_with("jina-v2-") && source_.pre != "jina-v2-en";
    for (size_t id = 0; id < source_.tokens.size(); ++id) {
      if (!is_control(id) && type(id) != GgufTokenType::kUserDefined) continue;
      AddedToken token{
          .id = static_cast<int32_t>(id), .content = std::string(source_.tokens[id]), .normalized = false, .special = is_control(id)};
      token.rstrip = is_phi3 && token.content != "<unk>" && token.content != "<s>" && token.content != "<|endoftext|>";
      token.lstrip = mask_takes_space && token.content == "<mask>";
      parts_.added.push_back(std::move(token));
    }
  }

  std::optional<int32_t> special_id(std::string_view key, std::optional<int64_t> id, std::optional<int64_t> fallback = {}) const {
    const auto valid = [&](const std::optional<int64_t>& x) { return x && *x >= 0 && *x < static_cast<int64_t>(source_.tokens.size()); };
    if (valid(id)) return static_cast<int32_t>(*id);
    if (id && *id != -1 && *id != UINT32_MAX)
      invalid("GGUF: tokenizer.ggml.{} is {}, there are {} tokens", key, *id, source_.tokens.size());
    if (valid(fallback)) return static_cast<int32_t>(*fallback);
    return std::nullopt;
  }

  void set_special_ids(std::optional<int64_t> bos, std::optional<int64_t> eos, std::optional<int64_t> unk) {
    parts_.special.bos = special_id("bos_token_id", source_.bos, bos);
    parts_.special.eos = special_id("eos_token_id", source_.eos, eos);
    parts_.special.unk = special_id("unknown_token_id", source_.unk, unk);
    parts_.special.sep = special_id("seperator_token_id", source_.sep);
    parts_.special.pad = special_id("padding_token_id", source_.pad);
    parts_.special.mask = special_id("mask_token_id", source_.mask);
  }

  void surround_with(bool bos, bool eos) {
    std::vector<int32_t> before, after;
    if (bos && parts_.special.bos) before.push_back(*parts_.special.bos);
    if (eos && parts_.special.eos) after.push_back(*parts_.special.eos);
    parts_.post = surround(before, after);
  }

  void add_stop_ids() {
    parts_.stop_ids = find_stop_ids(parts_);
    for (const auto& id : {special_id("eot_token_id", source_.eot), special_id("eom_token_id", source_.eom)})
      if (id && std::find(parts_.stop_ids.begin(), parts_.stop_ids.end(), *id) == parts_.stop_ids.end()) parts_.stop_ids.push_back(*id);
  }

  // ---- gpt2

  std::vector<Merge> merges() const {
    std::vector<Merge> merges;
    merges.reserve(source_.merges.size());
    const Vocabulary& vocabulary = *parts_.vocabulary;
    std::string joined;
    for (const std::string_view merge : source_.merges) {
      const size_t space = merge.find(' ', 1);
      if (space == std::string_view::npos) invalid("GGUF: the merge '{}' is not two tokens with a space between them", printable(merge));
      const std::string_view left = merge.substr(0, space), right = merge.substr(space + 1);
      joined.assign(left).append(right);
      const auto left_id = vocabulary.find(left), right_id = vocabulary.find(right), result = vocabulary.find(joined);
      if (left_id && right_id && result) merges.push_back({*left_id, *right_id, *result});  // others can never apply
    }
    return merges;
  }

  void build_bpe(std::string_view pre) {
    const auto named = find_gguf_pre_tokenizer(pre.empty() ? "default" : pre);
    if (!named) fail(ErrorCode::kUnsupported, "GGUF: tokenizer.ggml.pre is '{}', which is not known here", printable(pre));
    set_special_ids({}, {}, {});
    add_bos_ = named->add_bos;
    for (const std::string_view pattern : named->patterns)
      parts_.pre_tokenizers.push_back(split(find_pattern(std::string(pattern), "GGUF pre-tokenizer"), SplitBehavior::kIsolated));
    BpeOptions options;
    options.ignore_merges = named->ignore_merges;
    for (const AddedToken& token : parts_.added)
      if (token.special) options.never_whole.insert(token.id);
    if (named->escapes_spaces) {
      parts_.normalizers.push_back(replace(" ", std::string(kEscapedSpace)));
      options.unknown.byte_fallback = true;
      parts_.decoder.replace(std::string(kEscapedSpace), " ").byte_fallback_bytes().fuse();
    } else {
      parts_.pre_tokenizers.push_back(byte_level({.use_regex = false}));
      parts_.decoder.byte_level();
    }
    if (source_.merges.empty()) {  // ranks only: the order of the tokens
      std::vector<float> scores(source_.tokens.size());
      for (size_t id = 0; id < scores.size(); ++id) scores[id] = -static_cast<float>(id);
      parts_.model = span_bpe_model(parts_.vocabulary, std::move(scores), {.ignore_merges = true, .excluded = excluded()});
    } else {
      parts_.model = bpe_model(parts_.vocabulary, merges(), std::move(options));
    }
  }

  // ---- llama: SentencePiece's BPE

  void build_spm() {
    set_special_ids(1, 2, 0);
    add_bos_ = true;
    const bool prefix = source_.add_space_prefix.value_or(true);
    parts_.normalizers.push_back(sentencepiece_normalizer({.add_dummy_prefix = prefix,
                                                           .remove_extra_whitespaces = source_.remove_extra_whitespaces.value_or(false),
                                                           .escape_whitespaces = source_.escape_whitespaces.value_or(true)}));
    SpanBpeOptions options;
    options.unknown = {.unknown = parts_.special.unk, .fuse = true, .byte_fallback = true};
    options.excluded = excluded();
    parts_.model = span_bpe_model(parts_.vocabulary, source_.scores, std::move(options));
    parts_.decoder.replace(std::string(kEscapedSpace), " ").byte_fallback_bytes().fuse();
    if (prefix) parts_.decoder.strip(" ", 1, 0);
  }

  // ---- bert: WordPiece, with U+2581 before a word instead of ## before its rest

  void build_wpm() {
    set_special_ids(101, {}, 100);
    parts_.special.cls = parts_.special.bos;
    parts_.special.sep = special_id("seperator_token_id", source_.sep, 102);
    parts_.special.pad = special_id("padding_token_id", source_.pad, 0);
    parts_.special.mask = special_id("mask_token_id", source_.mask, 103);
    const bool lowercase = source_.lowercase.value_or(true);
    parts_.normalizers.push_back(bert_normalizer(
        {.controls_may_be_spaces = true, .strip_accents = source_.strip_accents.value_or(lowercase), .lowercase = lowercase}));
    parts_.pre_tokenizers.push_back(split(find_characters(is_whitespace), SplitBehavior::kRemoved));
    parts_.pre_tokenizers.push_back(split(find_characters(is_punctuation), SplitBehavior::kIsolated));
    WordPieceOptions options;
    if (!parts_.special.unk) invalid("GGUF: a bert vocabulary of {} tokens without an unknown token", source_.tokens.size());
    options.unknown = *parts_.special.unk;
    options.excluded = excluded();
    options.first_prefix = kEscapedSpace;
    options.continuing_prefix = "";
    options.max_characters = std::numeric_limits<size_t>::max();
    parts_.model = wordpiece_model(parts_.vocabulary, std::move(options));
    std::vector<int32_t> before, after;
    if (parts_.special.bos) before.push_back(*parts_.special.bos);
    if (parts_.special.sep) after.push_back(*parts_.special.sep);
    parts_.post = surround(before, after);
    parts_.post.pair = parts_.post.single;
    parts_.post.pair.push_back({TemplatePart::Kind::kSecond, {}, 1});
    if (!after.empty()) parts_.post.pair.push_back({TemplatePart::Kind::kTokens, after, 1});
    parts_.decoder.replace(std::string(kEscapedSpace), " ").fuse().strip(" ", 1, 0).cleanup();
  }

  // ---- t5: SentencePiece's unigram

  void build_ugm() {
    set_special_ids({}, 1, 2);
    parts_.special.pad = special_id("padding_token_id", source_.pad, 0);
    add_eos_ = true;
    const bool prefix = source_.add_space_prefix.value_or(false);
    SentencePieceNormalizerOptions normalizer;
    if (!source_.precompiled_charsmap.empty())
      normalizer.charsmap = std::make_shared<const Charsmap>(source_.precompiled_charsmap, "GGUF: tokenizer.ggml.precompiled_charsmap");
    normalizer.add_dummy_prefix = prefix;
    normalizer.remove_extra_whitespaces = source_.remove_extra_whitespaces.value_or(false);
    normalizer.escape_whitespaces = source_.escape_whitespaces.value_or(true);
    normalizer.treat_whitespace_as_suffix = source_.treat_whitespace_as_suffix.value_or(false);
    parts_.normalizers.push_back(sentencepiece_normalizer(std::move(normalizer)));
    UnigramOptions options;
    options.unknown = {.unknown = parts_.special.unk, .fuse = true};
    options.excluded = excluded();
    options.user_defined = ids_where([](GgufTokenType t) { return t == GgufTokenType::kUserDefined; });
    std::vector<double> scores(source_.scores.begin(), source_.scores.end());
    double least = 0;
    for (size_t id = 0; id < scores.size() && id < source_.tokens.size(); ++id)
      if (type(id) == GgufTokenType::kNormal) least = std::min(least, scores[id]);
    options.unknown_score = least - kUnknownPenalty;
    scores.resize(std::min(scores.size(), source_.tokens.size()));
    parts_.model = unigram_model(parts_.vocabulary, std::move(scores), std::move(options));
    parts_.decoder.replace(std::string(kEscapedSpace), " ").byte_fallback_bytes().fuse();
    if (prefix) parts_.decoder.strip(" ", 1, 0);
  }

  const GgufVocabulary& source_;
  TokenizerParts parts_;
  bool add_bos_ = false, add_eos_ = false;  // where the file does not say
};

}  // namespace

std::shared_ptr<const Tokenizer> gguf_tokenizer(const GgufVocabulary& vocabulary) {
  return std::make_shared<const Tokenizer>(Builder(vocabulary).build());
}

}  // namespace headrace
