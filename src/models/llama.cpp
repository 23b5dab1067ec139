// Llama and its near relations: Llama 1 to 3.x, SmolLM2, Mistral, Qwen2, Qwen3.
#include "models/config.h"
#include "models/models.h"

namespace headrace {
namespace {

using namespace nn;

struct LlamaConfig {
  int64_t vocab, hidden, intermediate, layers, heads, kv_heads, head_dim, max_positions;
  float eps;
  Activation activation;
  RopeOptions rope;
  bool qkv_bias = false, output_bias = false, mlp_bias = false, qk_norm = false, tied = false;
  std::vector<int64_t> windows;  // one for each layer, 0: none

  // What a family's class takes for keys that are not there.
  struct Defaults {
    int64_t kv_heads = 0;  // 0: as many as heads
    int64_t head_dim = 0;  // 0: the hidden size shared by the heads
    int64_t max_positions = 2048;
  };

  LlamaConfig(const Json& c, const Defaults& defaults) {
    vocab = config_size(c, "vocab_size"), hidden = config_size(c, "hidden_size"), intermediate = config_size(c, "intermediate_size");
    layers = config_layers(c, "num_hidden_layers"), heads = config_size(c, "num_attention_heads");
    kv_heads = config_size(c, "num_key_value_heads", defaults.kv_heads && !c.contains("num_key_value_heads") ? defaults.kv_heads : heads);
    max_positions = config_size(c, "max_position_embeddings", defaults.max_positions);
    if (heads % kv_heads != 0) invalid("{}: {} attention heads cannot share {} key-value heads evenly", kConfig, heads, kv_heads);
    const bool divided = !find<int64_t>(c, "head_dim", kConfig) && !defaults.head_dim;
    if (divided && hidden % heads != 0)
      invalid("{}: a hidden size of {} does not divide into {} heads, and there is no 'head_dim'", kConfig, hidden, heads);
    head_dim = config_size(c, "head_dim", divided ? hidden / heads : defaults.head_dim);
    eps = config_eps(c, "rms_norm_eps", 1e-6);
    activation = parse_activation(find_or<std::string>(c, "hidden_act", "silu", kConfig));
    rope = config_rope(c, head_dim);
    tied = find_or<bool>(c, "tie_word_embeddings", false, kConfig);
    windows.assign(size_t(layers), 0);
  }

  void set_attention_bias(const Json& c) { qkv_bias = output_bias = find_or<bool>(c, "attention_bias", false, kConfig); }

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
  return linear(at / "o_proj", named(at / "attention", y), c.hidden, {.bias = c.output_bias});
}

// What GGUF files have as tensors: divisors of the frequencies of rope.
void use_stored_divisors(const Scope& root, RopeOptions& rope) {
  const auto stored = [&](const char* name) { return root.parameter(name, {rope.rotary_dim / 2}); };
  if (rope.scaling.kind == RopeScaling::Kind::kLongRope && rope.scaling.short_factors.empty()) {
    rope.frequency_divisors = stored("rope_factors_short.weight"), rope.long_frequency_divisors = stored("rope_factors_long.weight");
  } else if (root.has("rope_freqs.weight")) {
    rope.frequency_divisors = stored("rope_freqs.weight");
  }
}

ModelInfo build(const Scope& root, LlamaConfig c) {
  use_stored_divisors(root, c.rope);
  const Scope model = root / "model";
  const WordMatrices words = word_matrices(model / "embed_tokens", root / "lm_head", c.tied);
  Value x = embedding(words.in, tokens(root.graph()), c.vocab, c.hidden);
  for (int64_t i = 0; i < c.layers; ++i) {
    const Scope layer = model / "layers" / int(i);
    x = x + attention(layer / "self_attn", rms_norm(layer / "input_layernorm", x, c.eps), c, c.windows[size_t(i)]);
    x = x + gated_mlp(layer / "mlp", rms_norm(layer / "post_attention_layernorm", x, c.eps), c.intermediate, c.activation, c.mlp_bias);
    named(layer, x);
  }
  x = rms_norm(model / "norm", select_logit_rows(x), c.eps);
  root.graph().mark_output(x, "final_hidden");
  root.graph().mark_output(named(root / "lm_head", linear(words.out, x, c.vocab)), "logits");
  return {.kind = ModelKind::kDecoder, .vocab_size = c.vocab, .max_positions = c.max_positions};
}

}  // namespace

ModelInfo build_llama(const Scope& root, const Json& config) {
  LlamaConfig c(config, {});
  c.set_attention_bias(config);
  c.mlp_bias = find_or<bool>(config, "mlp_bias", false, kConfig);
  return build(root, std::move(c));
}

ModelInfo build_mistral(const Scope& root, const Json& config) {
  LlamaConfig c(config, {.kv_heads = 8, .max_positions = 131072});
  c.windows.assign(size_t(c.layers), config_window(config, "sliding_window", 4096));
  return build(root, std::move(c));
}

ModelInfo build_qwen2(const Scope& root, const Json& config) {
  LlamaConfig c(config, {.kv_heads = 32, .max_positions = 32768});
  c.qkv_bias = true;
  c.set_qwen_windows(config);
  return build(root, std::move(c));
}

ModelInfo build_qwen3(const Scope& root, const Json& config) {
  LlamaConfig c(config, {.kv_heads = 32, .head_dim = 128, .max_positions = 32768});
  c.set_attention_bias(config);
  c.qk_norm = true;
  c.set_qwen_windows(config);
  return build(root, std::move(c));
}

}  // namespace headrace
