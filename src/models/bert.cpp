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

int64_t num_labels(const Json& config) {
  const auto labels = config.find("id2label");
  return labels != config.end() && labels->is_object() ? int64_t(labels->size()) : config_size(config, "num_labels", 2);
}

WordMatrices word_matrices_of(const Scope& root, const Json& config) {
  return word_matrices(root / "bert" / "embeddings" / "word_embeddings", root / "cls" / "predictions" / "decoder",
                       find_or<bool>(config, "tie_word_embeddings", true, kConfig));
}

// Scores of the words of the vocabulary.
Value word_scores(const Scope& root, const Json& config, Value x) {
  const Scope head = root / "cls" / "predictions";
  const int64_t vocab = config_size(config, "vocab_size");
  const Activation activation = parse_activation(find_or<std::string>(config, "hidden_act", "gelu", kConfig));
  const Value wide = activate(linear(head / "transform" / "dense", x, x.shape()[-1].value(), {.bias = true}), activation);
  const Value y = layer_norm(head / "transform" / "LayerNorm", wide, config_eps(config, "layer_norm_eps", 1e-12));
  const Scope biased = (head / "decoder").has("bias") ? head / "decoder" : head;  // a bias stored twice is tied as the matrix is
  return named(head / "decoder", linear(word_matrices_of(root, config).out, y, vocab) + biased.parameter("bias", {vocab}));
}

// What the class that wrote the checkpoint computes from the last hidden state x.
void add_heads(const Scope& root, const Json& config, Value x) {
  Graph& graph = root.graph();
  const LinearOptions biased{.bias = true};
  const Scope pooler = root / "bert" / "pooler" / "dense";
  const bool pre_training = is_class(config, "ForPreTraining"), next_sentence = is_class(config, "ForNextSentencePrediction");
  const bool sequences = is_class(config, "ForSequenceClassification"), choices = is_class(config, "ForMultipleChoice");
  Value pooled;
  if (pooler.has("weight") || pre_training || next_sentence || sequences || choices) {
    pooled = tanh(linear(pooler, first_tokens(x), x.shape()[-1].value(), biased));
    graph.mark_output(pooled, "pooler_output");
  }
  if (pre_training || is_class(config, "ForMaskedLM")) graph.mark_output(word_scores(root, config, x), "mlm_logits");
  if (pre_training || next_sentence)
    graph.mark_output(linear(root / "cls" / "seq_relationship", pooled, 2, biased), "seq_relationship_logits");
  if (sequences) graph.mark_output(linear(root / "classifier", pooled, num_labels(config), biased), "classification_logits");
  if (choices) graph.mark_output(linear(root / "classifier", pooled, 1, biased), "classification_logits");
  if (is_class(config, "ForTokenClassification"))
    graph.mark_output(linear(root / "classifier", x, num_labels(config), biased), "classification_logits");
  if (is_class(config, "ForQuestionAnswering")) graph.mark_output(linear(root / "qa_outputs", x, 2, biased), "span_logits");
}

}  // namespace

ModelInfo build_bert(const Scope& root, const Json& config) {
  const int64_t vocab = config_size(config, "vocab_size"), hidden = config_size(config, "hidden_size");
  const int64_t layers = config_layers(config, "num_hidden_layers"), heads = config_size(config, "num_attention_heads");
  const int64_t intermediate = config_size(config, "intermediate_size"),
                max_positions = config_size(config, "max_position_embeddings", 512);
  const float eps = config_eps(config, "layer_norm_eps", 1e-12);
  const Activation activation = parse_activation(find_or<std::string>(config, "hidden_act", "gelu", kConfig));
  if (find_or<bool>(config, "is_decoder", false, kConfig))
    fail(ErrorCode::kUnsupported, "{}: 'is_decoder' is true: a BERT that sees only what comes before is not supported", kConfig);
  if (hidden % heads != 0) invalid("{}: a hidden size of {} does not divide into {} heads", kConfig, hidden, heads);
  const AttentionOptions attention{.heads = heads, .kv_heads = heads, .head_dim = hidden / heads};
  const LinearOptions biased{.bias = true};

  Graph& graph = root.graph();
  const Scope model = root / "bert", embeddings = model / "embeddings";
  const Value token_types = graph.input("token_types", {DType::kI32, {Dim::symbol("tokens")}});
  Value x = embedding(word_matrices_of(root, config).in, tokens(graph), vocab, hidden) +
            embedding(embeddings / "token_type_embeddings", token_types, config_size(config, "type_vocab_size", 2), hidden) +
            embedding(embeddings / "position_embeddings", positions(graph), max_positions, hidden);
  x = layer_norm(embeddings / "LayerNorm", x, eps);
  for (int64_t i = 0; i < layers; ++i) {
    const Scope layer = model / "encoder" / "layer" / int(i), self = layer / "attention" / "self";
    const Value q = linear(self / "query", x, hidden, biased), k = linear(self / "key", x, hidden, biased),
                v = linear(self / "value", x, hidden, biased);
    const Value y = named(self / "attention", bidirectional_attention(q, k, v, attention));
    const Value attended = linear(layer / "attention" / "output" / "dense", y, hidden, biased);
    x = layer_norm(layer / "attention" / "output" / "LayerNorm", x + attended, eps);
    const Value wide = activate(linear(layer / "intermediate" / "dense", x, intermediate, biased), activation);
    x = layer_norm(layer / "output" / "LayerNorm", x + linear(layer / "output" / "dense", wide, hidden, biased), eps);
  }
  graph.mark_output(x, "last_hidden_state");

  add_heads(root, config, x);
  return {.kind = ModelKind::kEncoder, .vocab_size = vocab, .max_positions = max_positions};
}

}  // namespace headrace
