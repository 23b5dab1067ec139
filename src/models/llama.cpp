// Llama and its near relations: Llama 1 to 3.x, SmolLM2, Mistral, Qwen2, Qwen3.
#include "models/config.h"
#include "models/models.h"

namespace headrace {
namespace {

using namespace nn;

struct LlamaConfig {
  int64_t vocab, hidden, intermediate, layers, heads, kv_heads, head_dim;
  float eps;
  Activation activation;
  RopeOptions rope;
  bool qkv_bias, output_bias, mlp_bias, qk_norm, tied;
  std::vector<int64_t> windows;  // one for each layer, 0: none

  explicit LlamaConfig(const Json& c) {
    vocab = config_size(c, "vocab_size"), hidden = config_size(c, "hidden_size"), intermediate = config_size(c, "intermediate_size");
    layers = config_layers(c, "num_hidden_layers"), heads = config_size(c, "num_attention_heads");
    kv_heads = config_size(c, "num_key_value_heads", heads);
    if (heads % kv_heads != 0) invalid("{}: {} attention heads cannot share {} key-value heads evenly", kConfig, heads, kv_heads);
    if (!find<int64_t>(c, "head_dim", kConfig) && hidden % heads != 0)
      invalid("{}: a hidden size of {} does not divide into {} heads, and there is no 'head_dim'", kConfig, hidden, heads);
    head_dim = config_size(c, "head_dim", hidden / heads);
    eps = config_eps(c, "rms_norm_eps", 1e-6);
    activation = parse_activation(find_or<std::string>(c, "hidden_act", "silu", kConfig));
    rope = config_rope(c, head_dim);
    qkv_bias = output_bias = find_or<bool>(c, "attention_bias", false, kConfig);
    mlp_bias = find_or<bool>(c, "mlp_bias", false, kConfig);
    qk_norm = false;
    tied = find_or<bool>(c, "tie_word_embeddings", false, kConfig);
    windows.assign(size_t(layers), 0);
  }

  // Qwen's way: a window that is off by default and then holds for the layers from max_window_layers on.
  void set_qwen_windows(const Json& c) {
    if (!find_or<bool>(c, "use_sliding_window", false, kConfig)) return;
    const int64_t window = config_window(c, "sliding_window", 0), first = find_or<int64_t>(c, "max_window_layers", layers, kConfig);
    for (int64_t i = 0; i < layers; ++i)
      if (is_sliding_layer(c, i, i >= first)) windows[size_t(i)] = window;
  }
};

Value head_norm(const Scope& at, Value x, const LlamaConfig& c) {
  const Dim tokens = x.shape()[0], width = x.shape()[1];
  const Value heads = view(x, {tokens, *width.divided_by(c.head_dim), c.head_dim});
  return view(rms_norm(at, heads, c.eps), {tokens, width});
}

Value attention(const Scope& at, Value x, const LlamaConfig& c, int64_t window) {
  Value q = linear(at / "q_proj", x, c.heads * c.head_dim, {.bias = c.qkv_bias});
  Value k = linear(at / "k_proj", x, c.kv_heads * c.head_dim, {.bias = c.qkv_bias});
  Value v = linear(at / "v_proj", x, c.kv_heads * c.head_dim, {.bias = c.qkv_bias});
  if (c.qk_norm) {
    q = head_norm(at / "q_norm", q, c);
    k = head_norm(at / "k_norm", k, c);
  }
  q = rope(q, c.rope);
  k = rope(k, c.rope);
  Value y = causal_attention(q, k, v, {.heads = c.heads, .kv_heads = c.kv_heads, .head_dim = c.head_dim, .window = window});
  return linear(at / "o_proj", y, c.hidden, {.bias = c.output_bias});
}

ModelInfo build(const Scope& root, LlamaConfig c, const Json& config) {
  if (root.has("rope_freqs.weight")) c.rope.frequency_divisors = root.parameter("rope_freqs.weight", {c.rope.rotary_dim / 2});
  const Scope model = root / "model";
  Value x = embedding(model / "embed_tokens", tokens(root.graph()), c.vocab, c.hidden);
  for (int64_t i = 0; i < c.layers; ++i) {
    const Scope layer = model / "layers" / int(i);
    x = x + attention(layer / "self_attn", rms_norm(layer / "input_layernorm", x, c.eps), c, c.windows[size_t(i)]);
    x = x + gated_mlp(layer / "mlp", rms_norm(layer / "post_attention_layernorm", x, c.eps), c.intermediate, c.activation, c.mlp_bias);
  }
  x = rms_norm(model / "norm", select_logit_rows(x), c.eps);
  root.graph().mark_output(x, "final_hidden");
  root.graph().mark_output(linear(c.tied ? model / "embed_tokens" : root / "lm_head", x, c.vocab), "logits");
  return {.kind = ModelKind::kDecoder, .vocab_size = c.vocab, .max_positions = config_size(config, "max_position_embeddings", 2048)};
}

}  // namespace

ModelInfo build_llama(const Scope& root, const Json& config) { return build(root, LlamaConfig(config), config); }

ModelInfo build_mistral(const Scope& root, const Json& config) {
  LlamaConfig c(config);
  c.windows.assign(size_t(c.layers), config_window(config, "sliding_window", 4096));
  return build(root, std::move(c), config);
}

ModelInfo build_qwen2(const Scope& root, const Json& config) {
  LlamaConfig c(config);
  c.qkv_bias = true, c.output_bias = false;
  c.set_qwen_windows(config);
  return build(root, std::move(c), config);
}

ModelInfo build_qwen3(const Scope& root, const Json& config) {
  LlamaConfig c(config);
  c.qk_norm = true;
  if (!config.contains("head_dim")) c.head_dim = 128, c.rope = config_rope(config, 128);
  c.set_qwen_windows(config);
  return build(root, std::move(c), config);
}

}  // namespace headrace
