// vocab.json with merges.txt (GPT-2 and its kin), and vocab.txt (BERT), for folders without a tokenizer.json.
#include "text/pre_tokenizer_names.h"
#include "text/tokenizer_files.h"
#include "text/tokenizer_json.h"
#include "text/tokenizer_json_parts.h"

namespace headrace {
namespace {

// Both are a tokenizer.json in pieces, so they are put together to one: there is one reader, with one set of checks.
Json merges_list(std::string_view text) {
  Json list = Json::array();
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + 1));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty() && !(line.starts_with("#version") && list.empty())) list.push_back(line);
  }
  return list;
}

Json pre_tokenizer_of(const TokenizerConfig& config) {
  const Json byte_level = {{"type", "ByteLevel"}, {"add_prefix_space", config.add_prefix_space.value_or(false)}, {"use_regex", true}};
  if (!config.class_contains("Qwen2")) return byte_level;
  const auto qwen = find_gguf_pre_tokenizer("qwen2");
  return {{"type", "Sequence"},
          {"pretokenizers",
           {{{"type", "Split"}, {"pattern", {{"Regex", qwen->patterns[0]}}}, {"behavior", "Isolated"}, {"invert", false}},
            {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}}}}};
}

}  // namespace

TokenizerParts read_vocab_and_merges(std::string_view vocab, std::string_view merges, const TokenizerConfig& config) {
  const bool clip = config.class_contains("CLIP");
  Json json = {{"added_tokens", Json::array()},
               {"normalizer", nullptr},
               {"pre_tokenizer", pre_tokenizer_of(config)},
               {"post_processor", nullptr},
               {"decoder", {{"type", "ByteLevel"}}},
               {"model", {{"type", "BPE"}, {"vocab", parse_json(vocab, "vocab.json")}, {"merges", merges_list(merges)}}}};
  if (config.class_contains("Qwen2")) json["normalizer"] = {{"type", "NFC"}};
  if (clip) fail(ErrorCode::kUnsupported, "vocab.json: a {} needs its tokenizer.json", config.tokenizer_class);
  TokenizerParts parts = parse_tokenizer_json(json.dump());
  if (config.class_contains("Roberta") || config.class_contains("Bart")) {
    const auto cls = parts.vocabulary->find("<s>"), sep = parts.vocabulary->find("</s>");
    if (cls && sep) {
      parts.post = parse_post_processor({{"type", "RobertaProcessing"}, {"cls", {"<s>", *cls}}, {"sep", {"</s>", *sep}}});
    }
  }
  for (const char* name : {"<|endoftext|>", "<s>", "</s>", "<pad>", "<unk>", "<mask>"}) {
    if (const auto id = parts.vocabulary->find(name))
      parts.added.push_back(
          {.id = *id, .content = name, .lstrip = std::string_view(name) == "<mask>", .normalized = false, .special = true});
  }
  if (!parts.special.eos) parts.special.eos = parts.vocabulary->find("<|endoftext|>");
  return parts;
}

TokenizerParts read_vocab_txt(std::string_view vocab, const TokenizerConfig& config) {
  TokenizerParts parts;
  parts.vocabulary->reserve(vocab.size() / 7, vocab.size());
  while (!vocab.empty()) {
    const size_t end = std::min(vocab.find('\n'), vocab.size());
    std::string_view line = vocab.substr(0, end);
    vocab.remove_prefix(std::min(vocab.size(), end + 1));
    if (line.ends_with('\r')) line.remove_suffix(1);
    parts.vocabulary->add(line);
  }
  WordPieceOptions options;
  const auto named = [&](const char* key, const char* fallback) {
    const auto found = config.special.find(key);
    return parts.vocabulary->find(found == config.special.end() ? std::string_view(fallback) : std::string_view(found->second));
  };
  parts.special = {.pad = named("pad_token", "[PAD]"),
                   .unk = named("unk_token", "[UNK]"),
                   .sep = named("sep_token", "[SEP]"),
                   .cls = named("cls_token", "[CLS]"),
                   .mask = named("mask_token", "[MASK]")};
  if (!parts.special.unk) invalid("vocab.txt: no [UNK] among its {} lines: this is no WordPiece vocabulary", parts.vocabulary->size());
  options.unknown = *parts.special.unk;
  options.excluded.resize(static_cast<size_t>(parts.vocabulary->size()));
  for (const auto& id : {parts.special.pad, parts.special.unk, parts.special.sep, parts.special.cls, parts.special.mask}) {
    if (!id) continue;
    options.excluded[static_cast<size_t>(*id)] = true;
    parts.added.push_back({.id = *id, .content = std::string(parts.vocabulary->text(*id)), .normalized = false, .special = true});
  }
  const bool lowercase = config.do_lower_case.value_or(true);
  parts.normalizers.push_back(bert_normalizer({.space_chinese = config.tokenize_chinese_chars.value_or(true),
                                               .strip_accents = config.strip_accents.value_or(lowercase),
                                               .lowercase = lowercase}));
  parse_pre_tokenizer({{"type", "BertPreTokenizer"}}, parts.pre_tokenizers);
  parts.model = wordpiece_model(std::make_shared<const Vocabulary>(*parts.vocabulary), std::move(options));
  parts.decoder.wordpiece({});
  if (parts.special.cls && parts.special.sep) {
    parts.post =
        parse_post_processor({{"type", "BertProcessing"}, {"cls", {"[CLS]", *parts.special.cls}}, {"sep", {"[SEP]", *parts.special.sep}}});
  }
  return parts;
}

}  // namespace headrace
