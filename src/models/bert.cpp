// BERT (Devlin et al. 2019): a bidirectional encoder with norms after each part, and the heads that its classes add.
#include <cmath>

#include "models/config.h"
#include "models/models.h"

namespace headrace {

using namespace nn;

namespace {

// The rows at which sequences begin: (sequences, hidden).
Value first_tokens(Value x) { return index_select(x, 0, slice(sequence_offsets(x.graph()), 0, 0, -1)); }

bool is_class(const Json& config, std::string_view suffix) {
  const auto names = config.find("architectures");
  if (names == config.end() || !names->is_array() || names->empty() || !names->front().is_string()) return false;
  return names->front().get<std::string>().ends_with(suffix);
}

}  // namespace

ModelInfo build_bert(const Scope& root, const Json& config) {
  const int64_t vocab = config_size(config, "vocab_size"), hidden = config_size(config, "hidden_size");
  const int64_t layers = config_layers(config, "num_hidden_layers"), heads = config_size(config, "num_attention_heads");
  const int64_t intermediate = config_size(config, "intermediate_size"), max_positions = config_size(config, "max_position_embeddings");
  const float eps = config_eps(config, "layer_norm_eps", 1e-12);
  const Activation activation = parse_activation(find_or<std::string>(config, "hidden_act", "gelu", kConfig));
  if (hidden % heads != 0) invalid("{}: a hidden size of {} does not divide into {} heads", kConfig, hidden, heads);
  const AttentionOptions attention{.heads = heads, .kv_heads = heads, .head_dim = hidden / heads};
  const LinearOptions biased{.bias = true};

  Graph& graph = root.graph();
  const Scope model = root / "bert", embeddings = model / "embeddings";
  const Value token_types = graph.input("token_types", {DType::kI32, {Dim::symbol("tokens")}});
  Value x = embedding(embeddings / "word_embeddings", tokens(graph), vocab, hidden) +
            embedding(embeddings / "token_type_embeddings", token_types, config_size(config, "type_vocab_size", 2), hidden) +
            embedding(embeddings / "position_embeddings", positions(graph), max_positions, hidden);
  x = layer_norm(embeddings / "LayerNorm", x, eps);
  for (int64_t i = 0; i < layers; ++i) {
    const Scope layer = model / "encoder" / "layer" / int(i), self = layer / "attention" / "self";
    const Value q = linear(self / "query", x, hidden, biased), k = linear(self / "key", x, hidden, biased),
                v = linear(self / "value", x, hidden, biased);
    const Value attended = linear(layer / "attention" / "output" / "dense", bidirectional_attention(q, k, v, attention), hidden, biased);
    x = layer_norm(layer / "attention" / "output" / "LayerNorm", x + attended, eps);
    const Value wide = activate(linear(layer / "intermediate" / "dense", x, intermediate, biased), activation);
    x = layer_norm(layer / "output" / "LayerNorm", x + linear(layer / "output" / "dense", wide, hidden, biased), eps);
  }
  graph.mark_output(x, "last_hidden_state");

  const bool pre_training = is_class(config, "ForPreTraining");
  Value pooled;
  if ((model / "pooler" / "dense").has("weight") || pre_training || is_class(config, "ForSequenceClassification")) {
    pooled = tanh(linear(model / "pooler" / "dense", first_tokens(x), hidden, biased));
    graph.mark_output(pooled, "pooler_output");
  }
  if (pre_training || is_class(config, "ForMaskedLM")) {
    const Scope head = root / "cls" / "predictions";
    const Value y =
        layer_norm(head / "transform" / "LayerNorm", activate(linear(head / "transform" / "dense", x, hidden, biased), activation), eps);
    graph.mark_output(linear(embeddings / "word_embeddings", y, vocab) + head.parameter("bias", {vocab}), "mlm_logits");
  }
  if (pre_training) graph.mark_output(linear(root / "cls" / "seq_relationship", pooled, 2, biased), "seq_relationship_logits");
  if (is_class(config, "ForSequenceClassification")) {
    const auto labels = config.find("id2label");
    const int64_t count = labels != config.end() && labels->is_object() ? int64_t(labels->size()) : config_size(config, "num_labels", 2);
    graph.mark_output(linear(root / "classifier", pooled, count, biased), "classification_logits");
  }
  return {.kind = ModelKind::kEncoder, .vocab_size = vocab, .max_positions = max_positions};
}

}  // namespace headrace
