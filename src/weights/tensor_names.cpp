#include "weights/tensor_names.h"

#include <algorithm>

#include "core/error.h"

namespace headrace {
namespace {

// ------------------------------------------------------------------------------------------------ Hugging Face

struct Prefix {
  std::string_view model_type, prefix;
};
constexpr Prefix kPrefixes[] = {
    {"llama", "model."}, {"mistral", "model."},   {"qwen2", "model."},         {"qwen3", "model."},
    {"gemma", "model."}, {"gemma2", "model."},    {"gemma3_text", "model."},   {"gpt2", "transformer."},
    {"bert", "bert."},   {"roberta", "roberta."}, {"xlm-roberta", "roberta."},
};
// What stands beside the inner model in its class, and so never has its prefix.
constexpr std::string_view kHeads[] = {"lm_head.", "score.", "cls.", "classifier.", "qa_outputs."};

bool starts_with_any(std::string_view name, std::span<const std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view prefix) { return name.starts_with(prefix); });
}

bool ends_with_any(std::string_view name, std::span<const std::string_view> suffixes) {
  return std::any_of(suffixes.begin(), suffixes.end(), [&](std::string_view suffix) { return name.ends_with(suffix); });
}

std::string without_old_norm_names(std::string name) {
  for (const auto& [old_ending, ending] :
       {std::pair("LayerNorm.gamma", "LayerNorm.weight"), std::pair("LayerNorm.beta", "LayerNorm.bias")}) {
    if (name.ends_with(old_ending)) return name.substr(0, name.size() - std::string_view(old_ending).size()) + ending;
  }
  return name;
}

// ------------------------------------------------------------------------------------------------ GGUF

// The same part of a model in both worlds, without ".weight" or ".bias".
struct Stem {
  std::string_view gguf, hf;
};
struct Naming {
  std::string_view architecture;
  std::span<const Stem> model;
  std::string_view layers;  // what stands before a layer's number
  std::span<const Stem> layer;
};

constexpr Stem kLlamaModel[] = {{"token_embd", "model.embed_tokens"}, {"output_norm", "model.norm"}, {"output", "lm_head"}};
constexpr Stem kLlamaLayer[] = {
    {"attn_norm", "input_layernorm"},    {"attn_q", "self_attn.q_proj"},
    {"attn_k", "self_attn.k_proj"},      {"attn_v", "self_attn.v_proj"},
    {"attn_output", "self_attn.o_proj"}, {"attn_q_norm", "self_attn.q_norm"},
    {"attn_k_norm", "self_attn.k_norm"}, {"ffn_norm", "post_attention_layernorm"},
    {"ffn_gate", "mlp.gate_proj"},       {"ffn_up", "mlp.up_proj"},
    {"ffn_down", "mlp.down_proj"},
};
constexpr Stem kGemma3Layer[] = {
    {"attn_norm", "input_layernorm"},
    {"attn_q", "self_attn.q_proj"},
    {"attn_k", "self_attn.k_proj"},
    {"attn_v", "self_attn.v_proj"},
    {"attn_output", "self_attn.o_proj"},
    {"attn_q_norm", "self_attn.q_norm"},
    {"attn_k_norm", "self_attn.k_norm"},
    {"post_attention_norm", "post_attention_layernorm"},
    {"ffn_norm", "pre_feedforward_layernorm"},
    {"post_ffw_norm", "post_feedforward_layernorm"},
    {"ffn_gate", "mlp.gate_proj"},
    {"ffn_up", "mlp.up_proj"},
    {"ffn_down", "mlp.down_proj"},
};
constexpr Stem kGpt2Model[] = {
    {"token_embd", "transformer.wte"}, {"position_embd", "transformer.wpe"}, {"output_norm", "transformer.ln_f"}, {"output", "lm_head"}};
constexpr Stem kGpt2Layer[] = {{"attn_norm", "ln_1"}, {"attn_qkv", "attn.c_attn"}, {"attn_output", "attn.c_proj"},
                               {"ffn_norm", "ln_2"},  {"ffn_up", "mlp.c_fc"},      {"ffn_down", "mlp.c_proj"}};
constexpr Stem kBertModel[] = {{"token_embd", "bert.embeddings.word_embeddings"},
                               {"position_embd", "bert.embeddings.position_embeddings"},
                               {"token_types", "bert.embeddings.token_type_embeddings"},
                               {"token_embd_norm", "bert.embeddings.LayerNorm"},
                               {"cls", "bert.pooler.dense"},
                               {"cls.output", "classifier"}};
constexpr Stem kBertLayer[] = {{"attn_q", "attention.self.query"},
                               {"attn_k", "attention.self.key"},
                               {"attn_v", "attention.self.value"},
                               {"attn_output", "attention.output.dense"},
                               {"attn_output_norm", "attention.output.LayerNorm"},
                               {"ffn_up", "intermediate.dense"},
                               {"ffn_down", "output.dense"},
                               {"layer_output_norm", "output.LayerNorm"}};

constexpr Naming kNamings[] = {
    {"llama", kLlamaModel, "model.layers.", kLlamaLayer}, {"qwen2", kLlamaModel, "model.layers.", kLlamaLayer},
    {"qwen3", kLlamaModel, "model.layers.", kLlamaLayer}, {"gemma3", kLlamaModel, "model.layers.", kGemma3Layer},
    {"gpt2", kGpt2Model, "transformer.h.", kGpt2Layer},   {"bert", kBertModel, "bert.encoder.layer.", kBertLayer},
};

std::string_view counterpart(std::span<const Stem> stems, std::string_view gguf) {
  for (const Stem& stem : stems)
    if (stem.gguf == gguf) return stem.hf;
  return {};
}

// Empty when there is no counterpart.
std::string translated(const Naming& naming, std::string_view name) {
  const size_t dot = name.rfind('.');
  const std::string_view ending = dot == name.npos ? std::string_view() : name.substr(dot);
  if (ending != ".weight" && ending != ".bias") return {};
  std::string_view stem = name.substr(0, dot);
  if (!stem.starts_with("blk.")) {
    const std::string_view hf = counterpart(naming.model, stem);
    return hf.empty() ? std::string() : fmt::format("{}{}", hf, ending);
  }
  stem.remove_prefix(4);
  const std::string_view number = stem.substr(0, std::min(stem.find('.'), stem.size()));
  const bool is_number = !number.empty() && std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!is_number || number.size() == stem.size()) return {};
  const std::string_view hf = counterpart(naming.layer, stem.substr(number.size() + 1));
  return hf.empty() ? std::string() : fmt::format("{}{}.{}{}", naming.layers, number, hf, ending);
}

void add_name(TensorNames& names, const std::string& canonical, const std::string& stored, std::string_view where) {
  const auto [it, is_new] = names.emplace(canonical, stored);
  if (!is_new) invalid("{}: tensors '{}' and '{}' are both '{}'", where, printable(it->second), printable(stored), printable(canonical));
}

}  // namespace

TensorNames hf_tensor_names(std::string_view model_type, const std::vector<std::string>& stored, std::string_view where) {
  std::string_view prefix;
  for (const Prefix& p : kPrefixes)
    if (p.model_type == model_type) prefix = p.prefix;
  const bool has_prefix = std::any_of(stored.begin(), stored.end(), [&](const std::string& name) { return name.starts_with(prefix); });

  TensorNames names;
  for (const std::string& name : stored) {
    const bool needs_prefix = !has_prefix && !starts_with_any(name, kHeads);
    add_name(names, without_old_norm_names(needs_prefix ? fmt::format("{}{}", prefix, name) : name), name, where);
  }
  return names;
}

TensorNames gguf_tensor_names(std::string_view architecture, const std::vector<std::string>& stored, std::string_view where) {
  const Naming* naming = nullptr;
  for (const Naming& n : kNamings)
    if (n.architecture == architecture) naming = &n;

  TensorNames names;
  for (const std::string& name : stored) {
    const std::string canonical = naming ? translated(*naming, name) : std::string();
    add_name(names, canonical.empty() ? name : canonical, name, where);
  }
  return names;
}

bool is_harmless_extra(std::string_view name) {
  constexpr std::string_view kBuffers[] = {".rotary_emb.inv_freq",   ".attn.bias",   ".attn.masked_bias", ".attention.bias",
                                           ".attention.masked_bias", ".position_ids"};
  constexpr std::string_view kTaskHeads[] = {"cls.", "classifier.", "bert.pooler.", "roberta.pooler."};
  return ends_with_any(name, kBuffers) || starts_with_any(name, kTaskHeads);
}

}  // namespace headrace
