// GPT-2 (Radford et al. 2019): learned positions, layer norms before each part, weights stored (in, out).
#include <cmath>

#include "models/config.h"
#include "models/models.h"

namespace headrace {

using namespace nn;

namespace {

// The names that other families have for sizes are accepted as well.
Json own_names(Json config) {
  for (const auto& [general, own] : {std::pair("hidden_size", "n_embd"), std::pair("num_attention_heads", "n_head"),
                                     std::pair("num_hidden_layers", "n_layer"), std::pair("max_position_embeddings", "n_positions")})
    if (config.contains(general) && !config.contains(own)) config[own] = config[general];
  return config;
}

}  // namespace

ModelInfo build_gpt2(const Scope& root, const Json& given) {
  const Json config = own_names(given);
  const int64_t vocab = config_size(config, "vocab_size"), hidden = config_size(config, "n_embd"), heads = config_size(config, "n_head");
  const int64_t layers = config_layers(config, "n_layer"), max_positions = config_size(config, "n_positions", 1024);
  const int64_t inner = config_size(config, "n_inner", 4 * hidden);
  const float eps = config_eps(config, "layer_norm_epsilon", 1e-5);
  const Activation activation = parse_activation(find_or<std::string>(config, "activation_function", "gelu_new", kConfig));
  const bool scaled = find_or<bool>(config, "scale_attn_weights", true, kConfig);
  const bool by_layer = find_or<bool>(config, "scale_attn_by_inverse_layer_idx", false, kConfig);
  const LinearOptions conv1d{.bias = true, .in_out = !find_or<bool>(config, "linear_weights_out_in", false, kConfig)};
  if (hidden % heads != 0) invalid("{}: a hidden size of {} does not divide into {} heads", kConfig, hidden, heads);
  const int64_t head_dim = hidden / heads;

  Graph& graph = root.graph();
  const Scope model = root / "transformer";
  const WordMatrices words = word_matrices(model / "wte", root / "lm_head", find_or<bool>(config, "tie_word_embeddings", true, kConfig));
  Value x = embedding(words.in, tokens(graph), vocab, hidden) + embedding(model / "wpe", positions(graph), max_positions, hidden);
  for (int64_t i = 0; i < layers; ++i) {
    const Scope layer = model / "h" / int(i);
    const Value qkv = linear(layer / "attn" / "c_attn", layer_norm(layer / "ln_1", x, eps), 3 * hidden, conv1d);
    const std::vector<Value> parts = split(qkv, {hidden, hidden, hidden}, 1);
    const double scale = (scaled ? 1 / std::sqrt(double(head_dim)) : 1.0) / (by_layer ? double(i + 1) : 1.0);
    const Value y =
        causal_attention(parts[0], parts[1], parts[2], {.heads = heads, .kv_heads = heads, .head_dim = head_dim, .scale = scale});
    x = x + linear(layer / "attn" / "c_proj", named(layer / "attn" / "attention", y), hidden, conv1d);
    const Value wide = activate(linear(layer / "mlp" / "c_fc", layer_norm(layer / "ln_2", x, eps), inner, conv1d), activation);
    x = named(layer, x + linear(layer / "mlp" / "c_proj", wide, hidden, conv1d));
  }
  x = layer_norm(model / "ln_f", select_logit_rows(x), eps);
  graph.mark_output(x, "final_hidden");
  graph.mark_output(named(root / "lm_head", linear(words.out, x, vocab)), "logits");
  return {.kind = ModelKind::kDecoder, .vocab_size = vocab, .max_positions = max_positions};
}

}  // namespace headrace
