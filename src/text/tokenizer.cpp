#include "headrace/tokenizer.h"

#include <algorithm>

#include "core/error.h"
#include "core/utf8.h"
#include "text/tokenizer_parts.h"
#include "text/unicode.h"

namespace headrace {
namespace {

constexpr size_t kMaxText = 1u << 30;

void check_text(std::string_view text) {
  if (text.size() > kMaxText) invalid("tokenizer: a text of {} bytes, at most {} are possible", text.size(), kMaxText);
  for (size_t i = 0; i < text.size();) {
    if (static_cast<unsigned char>(text[i]) < 0x80) {
      ++i;
      continue;
    }
    const Utf8 c = decode_utf8(text, i);
    if (!c.valid) invalid("tokenizer: the text is not valid UTF-8: byte {:#04x} at offset {}", static_cast<unsigned char>(text[i]), i);
    i += static_cast<size_t>(c.length);
  }
}

// Whether normalizing drops the first character, so that what is left no longer begins where the input does.
bool drops_beginning(const std::vector<Normalizer>& normalizers, std::string_view text) {
  if (normalizers.empty() || text.empty()) return false;
  const std::string first(text.substr(0, utf8_length(text[0])));
  return apply(normalizers, first + "a", true) == apply(normalizers, "a", true);
}

}  // namespace

// By parse_special: off, only tokens that users may write; on, all.
struct Tokenizer::Finders {
  AddedTokenFinder raw[2], normalized[2];
  std::vector<bool> special;  // by id
};

Tokenizer::Tokenizer(TokenizerParts parts) {
  auto finders = std::make_unique<Finders>();
  finders->special.resize(static_cast<size_t>(parts.vocabulary->size()));
  const auto mark_special = [&](int32_t id) {
    if (id >= 0 && id < parts.vocabulary->size()) finders->special[static_cast<size_t>(id)] = true;
  };
  for (const AddedToken& token : parts.added) {
    if (token.special) mark_special(token.id);
    const std::string pattern = token.normalized ? apply(parts.normalizers, token.content, true) : token.content;
    for (int parse_special = token.special ? 1 : 0; parse_special < 2; ++parse_special)
      (token.normalized ? finders->normalized : finders->raw)[parse_special].add(token, pattern);
  }
  for (const int32_t id : parts.more_special) mark_special(id);
  if (parts.stop_ids.empty()) parts.stop_ids = find_stop_ids(parts);
  finders_ = std::move(finders);
  parts_ = std::make_unique<const TokenizerParts>(std::move(parts));
}

Tokenizer::~Tokenizer() = default;

std::vector<int32_t> Tokenizer::encode(std::string_view text, const EncodeOptions& options) const {
  check_text(text);
  std::vector<int32_t> ids;
  encode_text(text, options.parse_special, ids);
  if (!options.add_special) return ids;
  std::vector<int32_t> result;
  result.reserve(ids.size() + 4);
  for (const TemplatePart& part : parts_->post.single) {
    if (part.kind == TemplatePart::Kind::kFirst) {
      const bool repeats = options.parse_special && ids.size() >= result.size() && std::equal(result.begin(), result.end(), ids.begin());
      if (repeats) result.clear();
      result.insert(result.end(), ids.begin(), ids.end());
    } else if (part.kind == TemplatePart::Kind::kTokens) {
      const bool repeats_eos = options.parse_special && !ids.empty() && part.ids.size() == 1 && part.ids[0] == eos_id() &&
                               !result.empty() && result.back() == part.ids[0];
      if (!repeats_eos) result.insert(result.end(), part.ids.begin(), part.ids.end());
    }
  }
  return result;
}

EncodedPair Tokenizer::encode_pair(std::string_view first, std::string_view second, const EncodeOptions& options) const {
  check_text(first);
  check_text(second);
  std::vector<int32_t> ids[2];
  encode_text(first, options.parse_special, ids[0]);
  encode_text(second, options.parse_special, ids[1]);
  EncodedPair result;
  for (const TemplatePart& part : parts_->post.pair) {
    if (part.kind == TemplatePart::Kind::kTokens && !options.add_special) continue;
    const auto& from = part.kind == TemplatePart::Kind::kTokens ? part.ids : ids[part.kind == TemplatePart::Kind::kSecond ? 1 : 0];
    result.ids.insert(result.ids.end(), from.begin(), from.end());
    result.type_ids.insert(result.type_ids.end(), from.size(), part.type_id);
  }
  return result;
}

void Tokenizer::encode_text(std::string_view text, bool parse_special, std::vector<int32_t>& ids) const {
  std::vector<Fragment> fragments;
  finders_->raw[parse_special ? 1 : 0].cut(text, fragments);
  for (const Fragment& fragment : fragments) {
    if (fragment.id >= 0) {
      ids.push_back(fragment.id);
    } else {
      encode_fragment(fragment.text, fragment.text.data() == text.data(), parse_special, ids);
    }
  }
}

void Tokenizer::encode_fragment(std::string_view text, bool at_start, bool parse_special, std::vector<int32_t>& ids) const {
  const std::string normalized = apply(parts_->normalizers, text, at_start);
  const bool begins_at_start = at_start && !drops_beginning(parts_->normalizers, text);
  std::vector<Fragment> fragments;
  finders_->normalized[parse_special ? 1 : 0].cut(normalized, fragments);
  for (const Fragment& fragment : fragments) {
    if (fragment.id >= 0) {
      ids.push_back(fragment.id);
      continue;
    }
    PieceList list;
    list.pieces.push_back({fragment.text, begins_at_start && fragment.text.data() == normalized.data()});
    for (const PreTokenizer& cut : parts_->pre_tokenizers) cut(list);
    parts_->model->encode(list.pieces, ids);
  }
}

std::string Tokenizer::decode(std::span<const int32_t> ids, const DecodeOptions& options) const {
  DecodeStream stream(parts_->decoder);
  for (const int32_t id : ids)
    if (parts_->vocabulary->has(id) && !(options.skip_special && is_special(id))) stream.token(parts_->vocabulary->text(id));
  stream.finish();
  return stream.take();
}

std::string Tokenizer::token_bytes(int32_t id) const {
  if (!parts_->vocabulary->has(id)) return {};
  DecodeStream stream(parts_->decoder);
  stream.token("a");
  const std::string text(parts_->vocabulary->text(id));
  if (const auto byte = parse_byte_token(text)) return {static_cast<char>(*byte)};
  stream.token(text);
  stream.finish();
  const std::string all = stream.take();
  return all.starts_with('a') ? all.substr(1) : all;
}

std::string_view Tokenizer::token_text(int32_t id) const { return parts_->vocabulary->text(id); }
std::optional<int32_t> Tokenizer::find_token(std::string_view text) const { return parts_->vocabulary->find(text); }
bool Tokenizer::has_token(int32_t id) const { return parts_->vocabulary->has(id); }
bool Tokenizer::is_special(int32_t id) const { return id >= 0 && id < vocab_size() && finders_->special[static_cast<size_t>(id)]; }
int32_t Tokenizer::vocab_size() const { return parts_->vocabulary->size(); }
std::optional<int32_t> Tokenizer::bos_id() const { return parts_->special.bos; }
std::optional<int32_t> Tokenizer::eos_id() const { return parts_->special.eos; }

std::vector<std::pair<std::string, std::string>> Tokenizer::named_tokens() const {
  const SpecialIds& s = parts_->special;
  std::vector<std::pair<std::string, std::string>> named;
  for (const auto& [name, id] : {std::pair("bos_token", s.bos),
                                 {"eos_token", s.eos},
                                 {"unk_token", s.unk},
                                 {"pad_token", s.pad},
                                 {"sep_token", s.sep},
                                 {"cls_token", s.cls},
                                 {"mask_token", s.mask}})
    if (id) named.emplace_back(name, token_text(*id));
  return named;
}

std::span<const int32_t> Tokenizer::stop_ids() const { return parts_->stop_ids; }
const std::optional<std::string>& Tokenizer::chat_template() const { return parts_->chat_template; }
const Decoder& Tokenizer::decoder() const { return parts_->decoder; }

bool Tokenizer::add_bos() const {
  const TemplatePart& first = parts_->post.single.front();
  return bos_id() && first.kind == TemplatePart::Kind::kTokens && !first.ids.empty() && first.ids.front() == *bos_id();
}

bool Tokenizer::add_eos() const {
  const TemplatePart& last = parts_->post.single.back();
  return eos_id() && last.kind == TemplatePart::Kind::kTokens && !last.ids.empty() && last.ids.back() == *eos_id();
}

PostTemplate surround(std::vector<int32_t> before, std::vector<int32_t> after) {
  using Kind = TemplatePart::Kind;
  PostTemplate result{{}, {}};
  const auto add = [](std::vector<TemplatePart>& parts, const std::vector<int32_t>& ids, int32_t type) {
    if (!ids.empty()) parts.push_back({Kind::kTokens, ids, type});
  };
  add(result.single, before, 0);
  result.single.push_back({Kind::kFirst, {}, 0});
  add(result.single, after, 0);
  result.pair = result.single;
  add(result.pair, before, 1);
  result.pair.push_back({Kind::kSecond, {}, 1});
  add(result.pair, after, 1);
  return result;
}

std::vector<int32_t> find_stop_ids(const TokenizerParts& parts) {
  constexpr std::string_view kEndsOfTurn[] = {"<|eot_id|>",
                                              "<|eom_id|>",
                                              "<|im_end|>",
                                              "<|end|>",
                                              "<|return|>",
                                              "<|call|>",
                                              "<end_of_turn>",
                                              "<|endoftext|>",
                                              "<|end_of_text|>",
                                              "<EOT>",
                                              "[EOT]",
                                              "<|eot|>",
                                              "<|END_OF_TURN_TOKEN|>",
                                              "<end_of_utterance>",
                                              "<｜end▁of▁sentence｜>",
                                              "<turn|>",
                                              "[e~[",
                                              "<|user|>",
                                              "<|endofturn|>"};
  std::vector<int32_t> ids;
  if (parts.special.eos) ids.push_back(*parts.special.eos);
  const auto is_control = [&](int32_t id) {
    const auto same = [id](const AddedToken& token) { return token.id == id && token.special; };
    return std::any_of(parts.added.begin(), parts.added.end(), same) ||
           std::find(parts.more_special.begin(), parts.more_special.end(), id) != parts.more_special.end();
  };
  for (const std::string_view name : kEndsOfTurn) {
    const auto id = parts.vocabulary->find(name);
    if (id && is_control(*id) && std::find(ids.begin(), ids.end(), *id) == ids.end()) ids.push_back(*id);
  }
  // In OpenAI's harmony format <|end|> ends a message, not the answer.
  if (parts.vocabulary->find("<|return|>") && parts.vocabulary->find("<|call|>"))
    std::erase(ids, parts.vocabulary->find("<|end|>").value_or(-1));
  return ids;
}

}  // namespace headrace
