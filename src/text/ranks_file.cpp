// tiktoken's ranks. The file names neither pattern nor special tokens; what goes with which name is written down here.
#include <algorithm>
#include <cctype>
#include <charconv>

#include "core/error.h"
#include "text/pre_tokenizer_names.h"
#include "text/tokenizer_files.h"
#include "text/tokenizer_json_parts.h"

namespace headrace {
namespace {

struct Line {
  std::string_view token, rank;
};

// "aGVsbG8= 15339"
std::optional<Line> next_line(std::string_view& text) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + 1));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    const size_t space = line.find(' ');
    if (space == std::string_view::npos) return Line{line, {}};
    return Line{line.substr(0, space), line.substr(space + 1)};
  }
  return std::nullopt;
}

std::optional<int32_t> parse_rank(std::string_view text) {
  int32_t rank = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
  if (error != std::errc() || end != text.data() + text.size() || rank < 0) return std::nullopt;
  return rank;
}

void add_special(TokenizerParts& parts, int32_t id, std::string text) {
  if (parts.vocabulary->has(id)) return;
  parts.vocabulary->set(id, text);
  parts.added.push_back({.id = id, .content = std::move(text), .normalized = false, .special = true});
}

// Llama 3 and 3.1 agree in where the tokens are that both have names for; the others are reserved.
void add_llama3_tokens(TokenizerParts& parts, int32_t first) {
  constexpr std::pair<int32_t, std::string_view> kNamed[] = {
      {0, "<|begin_of_text|>"},   {1, "<|end_of_text|>"},   {4, "<|finetune_right_pad_id|>"},
      {6, "<|start_header_id|>"}, {7, "<|end_header_id|>"}, {8, "<|eom_id|>"},
      {9, "<|eot_id|>"},          {10, "<|python_tag|>"}};
  int reserved = 0;
  for (int32_t i = 0; i < 256; ++i) {
    const auto* named = std::find_if(std::begin(kNamed), std::end(kNamed), [i](const auto& entry) { return entry.first == i; });
    add_special(parts, first + i,
                named != std::end(kNamed) ? std::string(named->second) : fmt::format("<|reserved_special_token_{}|>", reserved++));
  }
  parts.special.bos = first;
  parts.special.eos = first + 1;
  parts.post = surround({first}, {});
}

void add_special_tokens(TokenizerParts& parts, std::string_view name) {
  const int32_t first = parts.vocabulary->size();
  const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  if (has("llama3") || has("llama-3") || has("llama_3")) return add_llama3_tokens(parts, first);
  if (has("qwen")) {
    add_special(parts, first, "<|endoftext|>");
    add_special(parts, first + 1, "<|im_start|>");
    add_special(parts, first + 2, "<|im_end|>");
    for (int32_t i = 0; i < 205; ++i) add_special(parts, first + 3 + i, fmt::format("<|extra_{}|>", i));
    parts.special.eos = first;
    return;
  }
  if (has("cl100k")) {
    add_special(parts, 100257, "<|endoftext|>");
    add_special(parts, 100258, "<|fim_prefix|>");
    add_special(parts, 100259, "<|fim_middle|>");
    add_special(parts, 100260, "<|fim_suffix|>");
    add_special(parts, 100276, "<|endofprompt|>");
  } else if (has("o200k")) {
    add_special(parts, 199999, "<|endoftext|>");
    add_special(parts, 200018, "<|endofprompt|>");
  } else if (has("p50k") || has("r50k") || has("gpt2") || has("gpt-2")) {
    add_special(parts, 50256, "<|endoftext|>");
  }
  parts.special.eos = parts.vocabulary->find("<|endoftext|>");
}

}  // namespace

bool looks_like_ranks(std::string_view bytes) {
  std::string_view head = bytes.substr(0, 4096);
  const auto line = next_line(head);
  if (!line || !parse_rank(line->rank)) return false;
  return std::all_of(line->token.begin(), line->token.end(),
                     [](unsigned char c) { return std::isalnum(c) || c == '+' || c == '/' || c == '='; });
}

bool knows_ranks(std::string_view name) { return find_ranks_pattern(name).has_value(); }

TokenizerParts read_ranks(std::string_view bytes, std::string_view name) {
  const auto pattern = find_ranks_pattern(name);
  if (!pattern) {
    fail(
        ErrorCode::kUnsupported,
        "{}: a file of ranks does not say how to cut text; wanted a file or folder whose name contains cl100k_base, o200k_base, p50k_base, "
        "r50k_base, gpt2, llama3, qwen or kimi",
        printable(name));
  }
  TokenizerParts parts;
  parts.is_bpe = true;
  parts.vocabulary->reserve(bytes.size() / 14, bytes.size() / 2);
  std::string_view left = bytes;
  while (const auto line = next_line(left)) {
    const auto rank = parse_rank(line->rank);
    if (!rank) invalid("{}: ranks: '{}' is no rank", printable(name), printable(line->rank));
    parts.vocabulary->set(*rank, base64_decode(line->token, "ranks"));
  }
  std::vector<float> scores(static_cast<size_t>(parts.vocabulary->size()));
  for (size_t id = 0; id < scores.size(); ++id) scores[id] = -static_cast<float>(id);
  const auto model_vocabulary = std::make_shared<const Vocabulary>(*parts.vocabulary);
  parts.model = span_bpe_model(model_vocabulary, std::move(scores), {.symbols_are_bytes = true, .ignore_merges = true});
  parts.pre_tokenizers.push_back(split(find_pattern(std::string(*pattern), "ranks"), SplitBehavior::kIsolated));
  parts.decoder.fuse();
  add_special_tokens(parts, name);
  return parts;
}

}  // namespace headrace
