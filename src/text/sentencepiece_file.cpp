// SentencePiece's .model. Field numbers are those of sentencepiece_model.proto (Kudo and Richardson 2018).
#include <algorithm>
#include <limits>

#include "text/byte_trie.h"
#include "text/charsmap.h"
#include "text/protobuf.h"
#include "text/tokenizer_files.h"

namespace headrace {
namespace {

constexpr std::string_view kEscapedSpace = "\xe2\x96\x81";  // U+2581
constexpr double kUnknownPenalty = 10;

enum class PieceType : uint8_t { kNormal = 1, kUnknown, kControl, kUserDefined, kUnused, kByte };

struct SentencePieceFile {
  std::vector<std::string_view> pieces;
  std::vector<float> scores;
  std::vector<PieceType> types;
  int64_t model_type = 1;  // 1 unigram, 2 BPE, 3 words, 4 characters
  bool byte_fallback = false, treat_whitespace_as_suffix = false;
  int64_t unk_id = 0, bos_id = 1, eos_id = 2, pad_id = -1;
  std::string_view charsmap;
  bool add_dummy_prefix = true, remove_extra_whitespaces = true, escape_whitespaces = true;

  std::vector<bool> ids_where(std::initializer_list<PieceType> wanted) const {
    std::vector<bool> flags(types.size());
    for (size_t id = 0; id < types.size(); ++id) flags[id] = std::find(wanted.begin(), wanted.end(), types[id]) != wanted.end();
    return flags;
  }
};

void read_piece(std::string_view bytes, std::string_view where, SentencePieceFile& file) {
  ProtoReader reader(bytes, where);
  std::string_view piece;
  float score = 0;
  auto type = PieceType::kNormal;
  for (ProtoField field; reader.next(field);) {
    if (field.number == 1) piece = field.bytes;
    if (field.number == 2) score = field.as_float();
    if (field.number == 3) {
      if (field.value < 1 || field.value > 6) invalid("{}: piece {} has the type {}", where, file.pieces.size(), field.value);
      type = static_cast<PieceType>(field.value);
    }
  }
  file.pieces.push_back(piece);
  file.scores.push_back(score);
  file.types.push_back(type);
}

void read_trainer(std::string_view bytes, std::string_view where, SentencePieceFile& file) {
  ProtoReader reader(bytes, where);
  for (ProtoField field; reader.next(field);) {
    switch (field.number) {
      case 3: file.model_type = field.as_integer(); break;
      case 24: file.treat_whitespace_as_suffix = field.as_bool(); break;
      case 35: file.byte_fallback = field.as_bool(); break;
      case 40: file.unk_id = field.as_integer(); break;
      case 41: file.bos_id = field.as_integer(); break;
      case 42: file.eos_id = field.as_integer(); break;
      case 43: file.pad_id = field.as_integer(); break;
      default: break;
    }
  }
}

void read_normalizer(std::string_view bytes, std::string_view where, SentencePieceFile& file) {
  ProtoReader reader(bytes, where);
  for (ProtoField field; reader.next(field);) {
    switch (field.number) {
      case 2: file.charsmap = field.bytes; break;
      case 3: file.add_dummy_prefix = field.as_bool(); break;
      case 4: file.remove_extra_whitespaces = field.as_bool(); break;
      case 5: file.escape_whitespaces = field.as_bool(); break;
      default: break;
    }
  }
}

SentencePieceFile read_file(std::string_view bytes, std::string_view where) {
  SentencePieceFile file;
  ProtoReader reader(bytes, where);
  for (ProtoField field; reader.next(field);) {
    if (field.number == 1) read_piece(field.bytes, where, file);
    if (field.number == 2) read_trainer(field.bytes, where, file);
    if (field.number == 3) read_normalizer(field.bytes, where, file);
  }
  if (file.pieces.empty()) invalid("{}: a SentencePiece model without pieces", where);
  return file;
}

std::unique_ptr<Model> make_model(const SentencePieceFile& file, std::string_view where, const TokenizerParts& parts) {
  const UnknownOptions unknown{.unknown = parts.special.unk, .fuse = !file.byte_fallback, .byte_fallback = file.byte_fallback};
  const auto excluded = file.ids_where({PieceType::kUnknown, PieceType::kControl, PieceType::kByte, PieceType::kUnused});
  const auto user_defined = file.ids_where({PieceType::kUserDefined});
  // Tokens that a configuration adds are none of the model's.
  const auto vocabulary = std::make_shared<const Vocabulary>(*parts.vocabulary);
  if (file.model_type == 2) {
    SpanBpeOptions options{.unknown = unknown, .excluded = excluded};
    for (size_t id = 0; id < user_defined.size(); ++id)
      if (user_defined[id]) options.frozen.emplace_back(file.pieces[id]);
    return span_bpe_model(vocabulary, file.scores, std::move(options));
  }
  if (file.model_type != 1)
    fail(ErrorCode::kUnsupported, "{}: SentencePiece model type {}, wanted 1 (unigram) or 2 (BPE)", where, file.model_type);
  UnigramOptions options{.unknown = unknown, .excluded = excluded, .user_defined = user_defined, .sums_in_float = true};
  double least = 0, most = std::numeric_limits<float>::min();  // SentencePiece's largest score is never negative
  bool any = false;
  for (size_t id = 0; id < file.scores.size(); ++id) {
    if (file.types[id] != PieceType::kNormal) continue;
    least = any ? std::min<double>(least, file.scores[id]) : file.scores[id];
    most = std::max<double>(most, file.scores[id]);
    any = true;
  }
  options.unknown_score = least - kUnknownPenalty;
  options.user_defined_base = most;
  return unigram_model(vocabulary, std::vector<double>(file.scores.begin(), file.scores.end()), std::move(options));
}

Normalizer make_normalizer(const SentencePieceFile& file, std::string_view where, const TokenizerConfig& config) {
  SentencePieceNormalizerOptions options{.add_dummy_prefix = file.add_dummy_prefix,
                                         .prefix_every_fragment = config.legacy.value_or(true),
                                         .remove_extra_whitespaces = file.remove_extra_whitespaces,
                                         .escape_whitespaces = file.escape_whitespaces,
                                         .treat_whitespace_as_suffix = file.treat_whitespace_as_suffix};
  if (!file.charsmap.empty()) options.charsmap = std::make_shared<const Charsmap>(file.charsmap, where);
  auto trie = std::make_shared<ByteTrie>();
  for (size_t id = 0; id < file.pieces.size(); ++id)
    if (file.types[id] == PieceType::kUserDefined) trie->insert(file.pieces[id], static_cast<int32_t>(id));
  if (!trie->empty()) options.user_defined = trie;
  return sentencepiece_normalizer(std::move(options));
}

// What the model's own tokenizer class does when its configuration does not say.
void surround_by_class(const SentencePieceFile& file, const TokenizerConfig& config, TokenizerParts& parts) {
  const bool t5 = config.class_contains("T5") || config.class_contains("Pegasus");
  const bool bos = !t5 && file.model_type == 2;
  std::vector<int32_t> before, after;
  if (bos && parts.special.bos) before.push_back(*parts.special.bos);
  if (t5 && parts.special.eos) after.push_back(*parts.special.eos);
  parts.post = surround(before, after);
}

}  // namespace

TokenizerParts read_sentencepiece(std::string_view bytes, std::string_view where, const TokenizerConfig& config) {
  const SentencePieceFile file = read_file(bytes, where);
  TokenizerParts parts;
  parts.is_bpe = file.model_type == 2;
  parts.vocabulary->reserve(file.pieces.size(), bytes.size());
  for (const std::string_view piece : file.pieces) parts.vocabulary->add(piece);
  const auto id = [&](int64_t value) -> std::optional<int32_t> {
    if (value < 0 || value >= static_cast<int64_t>(file.pieces.size())) return std::nullopt;
    return static_cast<int32_t>(value);
  };
  parts.special = {.bos = id(file.bos_id), .eos = id(file.eos_id), .pad = id(file.pad_id), .unk = id(file.unk_id)};
  for (size_t i = 0; i < file.pieces.size(); ++i) {
    if (file.types[i] != PieceType::kUnknown && file.types[i] != PieceType::kControl) continue;
    parts.added.push_back({.id = static_cast<int32_t>(i), .content = std::string(file.pieces[i]), .normalized = false, .special = true});
  }
  parts.normalizers.push_back(make_normalizer(file, where, config));
  parts.model = make_model(file, where, parts);
  surround_by_class(file, config, parts);
  const bool drops_start = file.escape_whitespaces && !file.treat_whitespace_as_suffix;
  if (drops_start && (file.add_dummy_prefix || file.remove_extra_whitespaces))
    parts.decoder.drop_leading(std::string(kEscapedSpace), file.remove_extra_whitespaces);
  if (file.escape_whitespaces) parts.decoder.replace(std::string(kEscapedSpace), " ");
  parts.decoder.byte_fallback_bytes().fuse();
  if (file.add_dummy_prefix && !drops_start)
    parts.decoder.strip(" ", file.treat_whitespace_as_suffix ? 0 : 1, file.treat_whitespace_as_suffix ? 1 : 0);
  return parts;
}

}  // namespace headrace
