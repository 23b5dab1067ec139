#include "weights/gguf_config.h"

#include <algorithm>
#include <cmath>

namespace headrace {
namespace {

// Of the architectures whose tensors we can name.
struct Architecture {
  std::string_view name, model_type, model_class;
  bool rope_interleaved = false;
};
constexpr Architecture kArchitectures[] = {
    {"llama", "llama", "LlamaForCausalLM", true},   {"qwen2", "qwen2", "Qwen2ForCausalLM"}, {"qwen3", "qwen3", "Qwen3ForCausalLM"},
    {"gemma3", "gemma3_text", "Gemma3ForCausalLM"}, {"gpt2", "gpt2", "GPT2LMHeadModel"},    {"bert", "bert", "BertModel"},
};

std::string architecture_name(const GgufFile& file) {
  const auto name = file.string("general.architecture");
  if (!name) invalid("{}: metadata 'general.architecture' is missing; the file describes no model", file.where());
  return std::string(*name);
}

// Copies metadata to a configuration, if they are there.
class Translator {
 public:
  explicit Translator(const GgufFile& file) : file_(file), architecture_(architecture_name(file)) {}

  const std::string& architecture() const { return architecture_; }
  std::string key(std::string_view name) const { return fmt::format("{}.{}", architecture_, name); }
  std::optional<int64_t> integer(std::string_view name) const { return file_.integer(key(name)); }
  std::optional<double> real(std::string_view name) const { return file_.real(key(name)); }
  std::optional<std::string> text(std::string_view name) const {
    const auto value = file_.string(key(name));
    return value ? std::optional<std::string>(*value) : std::nullopt;
  }

  void copy_integer(std::string_view from, const char* to) {
    // Some files have one number per layer; one number says it when all are equal.
    const std::string name = key(from);
    if (!file_.is_array(name)) {
      if (const auto value = file_.integer(name)) config[to] = *value;
      return;
    }
    const std::vector<int64_t> values = *file_.integers(name);
    const bool equal = !values.empty() && std::equal(values.begin() + 1, values.end(), values.begin());
    config[to] = equal ? Json(values.front()) : Json(values);
  }
  void copy_real(std::string_view from, const char* to) {
    if (const auto value = real(from)) config[to] = shortest(*value);
  }

  // A float as the decimal that was meant: 1e-05 rather than 9.999999747378752e-06.
  static double shortest(double value) { return std::stod(fmt::format("{}", float(value))); }

  Json config = Json::object();

 private:
  const GgufFile& file_;
  std::string architecture_;
};

bool has_tensor(const GgufFile& file, std::string_view name) { return file.find_tensor(name) != nullptr; }

void add_vocabulary(Translator& t, const GgufFile& file) {
  if (const GgufTensor* embedding = file.find_tensor("token_embd.weight"); embedding && embedding->sizes.rank() == 2) {
    t.config["vocab_size"] = embedding->sizes[0];
  } else if (file.has(t.key("vocab_size"))) {
    t.copy_integer("vocab_size", "vocab_size");
  } else if (const auto count = file.array_size("tokenizer.ggml.tokens")) {
    t.config["vocab_size"] = int64_t(*count);
  }
  for (const auto& [from, to] :
       {std::pair("tokenizer.ggml.bos_token_id", "bos_token_id"), std::pair("tokenizer.ggml.eos_token_id", "eos_token_id"),
        std::pair("tokenizer.ggml.padding_token_id", "pad_token_id")})
    if (const auto id = file.integer(from)) t.config[to] = *id;
  t.config["tie_word_embeddings"] = !has_tensor(file, "output.weight");
}

// A factor without a kind is linear. Files before version 3 call it scale_linear.
Json rope_scaling(const Translator& t) {
  const std::optional<double> named = t.real("rope.scaling.factor"), factor = named ? named : t.real("rope.scale_linear");
  const std::string type = t.text("rope.scaling.type").value_or(factor.value_or(1) != 1 ? "linear" : "none");
  if (type == "none" || (type == "linear" && factor.value_or(0) == 0)) return nullptr;
  Json scaling = {{"rope_type", type}};
  if (factor || type != "longrope") scaling["factor"] = Translator::shortest(factor.value_or(1));
  if (const auto length = t.integer("rope.scaling.original_context_length")) scaling["original_max_position_embeddings"] = *length;
  for (const auto& [from, to] :
       {std::pair("rope.scaling.yarn_beta_fast", "beta_fast"), std::pair("rope.scaling.yarn_beta_slow", "beta_slow")})
    if (const auto beta = t.real(from)) scaling[to] = Translator::shortest(*beta);
  const double attention = t.real("rope.scaling.attn_factor").value_or(1) * t.real("rope.scaling.yarn_attn_factor").value_or(1);
  // Of yarn, a factor upon its own 0.1 ln(factor) + 1; in Hugging Face's spelling it stands in its place. Of longrope, the whole.
  if (type == "yarn" && attention != 1) scaling["attention_factor"] = attention * (0.1 * std::log(std::max(factor.value_or(1), 1.0)) + 1);
  if (type == "longrope") scaling["attention_factor"] = attention;
  return scaling;
}

void add_rope(Translator& t, const GgufFile& file) {
  t.config["rope_theta"] = t.real("rope.freq_base") ? Translator::shortest(*t.real("rope.freq_base")) : 10000.0;
  t.config["rope_scaling"] = rope_scaling(t);
  if (has_tensor(file, "rope_factors_short.weight")) t.config["rope_factors_are_tensors"] = true;
  const int64_t head_dim = find_or<int64_t>(t.config, "head_dim", 0, file.where()),
                rotary = t.integer("rope.dimension_count").value_or(head_dim);
  if (head_dim > 0 && rotary != head_dim) t.config["rope_dimensions"] = rotary;
}

void add_head_dim(Translator& t) {
  if (t.integer("attention.key_length")) {
    t.copy_integer("attention.key_length", "head_dim");
  } else {
    const Json hidden = t.config.value("hidden_size", Json()), heads = t.config.value("num_attention_heads", Json());
    if (hidden.is_number_integer() && heads.is_number_integer() && heads > 0)
      t.config["head_dim"] = hidden.get<int64_t>() / heads.get<int64_t>();
  }
}

void translate_llama(Translator& t, const GgufFile& file) {
  t.copy_integer("embedding_length", "hidden_size");
  t.copy_integer("feed_forward_length", "intermediate_size");
  t.copy_integer("block_count", "num_hidden_layers");
  t.copy_integer("attention.head_count", "num_attention_heads");
  t.copy_integer(file.has(t.key("attention.head_count_kv")) ? "attention.head_count_kv" : "attention.head_count", "num_key_value_heads");
  t.copy_integer("context_length", "max_position_embeddings");
  t.copy_real("attention.layer_norm_rms_epsilon", "rms_norm_eps");
  t.copy_integer("attention.sliding_window", "sliding_window");
  t.config["hidden_act"] = "silu";
  add_head_dim(t);
  add_rope(t, file);
  if (t.architecture() != "qwen2") t.config["attention_bias"] = has_tensor(file, "blk.0.attn_q.bias");
  t.config["mlp_bias"] = has_tensor(file, "blk.0.ffn_up.bias");
  if (t.integer("expert_count").value_or(0) > 0) {
    if (t.architecture() == "llama") t.config["model_type"] = "mixtral";
    t.copy_integer("expert_count", "num_experts");
    t.copy_integer("expert_used_count", "num_experts_per_tok");
  }
}

void translate_gemma3(Translator& t, const GgufFile& file) {
  translate_llama(t, file);
  Json& config = t.config;
  config["hidden_activation"] = "gelu_pytorch_tanh";
  config.erase("hidden_act");
  config["rms_norm_weight_has_one"] = true;
  config["rope_local_base_freq"] = 10000.0;  // what the format means by silence
  t.copy_real("rope.freq_base_swa", "rope_local_base_freq");
  t.copy_real("final_logit_softcapping", "final_logit_softcapping");
  t.copy_real("attn_logit_softcapping", "attn_logit_softcapping");
  const int64_t layers = t.integer("block_count").value_or(0), heads = t.integer("attention.head_count").value_or(0);
  const bool largest = layers == 62 && heads > 0;  // 27B alone scales by the width per head, which is not its head_dim
  config["query_pre_attn_scalar"] =
      largest ? t.integer("embedding_length").value_or(0) / heads : find_or<int64_t>(config, "head_dim", 256, file.where());
  const std::string pattern_key = t.key("attention.sliding_window_pattern");
  const int64_t pattern = file.is_array(pattern_key) ? 6 : std::max<int64_t>(file.integer(pattern_key).value_or(6), 1);
  if (layers > 0 && layers <= 1000) {
    config["layer_types"] = Json::array();
    for (int64_t i = 0; i < layers; ++i) config["layer_types"].push_back((i + 1) % pattern == 0 ? "full_attention" : "sliding_attention");
  }
}

// Of models that learn their positions: where the context is not named, the table says it.
void copy_positions(Translator& t, const GgufFile& file, const char* to) {
  if (const GgufTensor* table = file.find_tensor("position_embd.weight"); table && table->sizes.rank() == 2) t.config[to] = table->sizes[0];
  t.copy_integer("context_length", to);
}

void translate_gpt2(Translator& t, const GgufFile& file) {
  t.copy_integer("embedding_length", "n_embd");
  t.copy_integer("feed_forward_length", "n_inner");
  t.copy_integer("block_count", "n_layer");
  t.copy_integer("attention.head_count", "n_head");
  copy_positions(t, file, "n_positions");
  t.copy_real("attention.layer_norm_epsilon", "layer_norm_epsilon");
  t.config["activation_function"] = "gelu_new";
  t.config["linear_weights_out_in"] = true;
}

void translate_bert(Translator& t, const GgufFile& file) {
  t.copy_integer("embedding_length", "hidden_size");
  t.copy_integer("feed_forward_length", "intermediate_size");
  t.copy_integer("block_count", "num_hidden_layers");
  t.copy_integer("attention.head_count", "num_attention_heads");
  copy_positions(t, file, "max_position_embeddings");
  t.copy_real("attention.layer_norm_epsilon", "layer_norm_eps");
  t.config["hidden_act"] = "gelu";
  const GgufTensor* types = file.find_tensor("token_types.weight");
  t.config["type_vocab_size"] =
      types && types->sizes.rank() == 2 ? types->sizes[0] : file.integer("tokenizer.ggml.token_type_count").value_or(2);
  if (has_tensor(file, "cls.output.weight")) t.config["architectures"] = {"BertForSequenceClassification"};
  t.config["tie_word_embeddings"] = true;
}

}  // namespace

Json gguf_config(const GgufFile& file) {
  Translator t(file);
  const auto known =
      std::find_if(std::begin(kArchitectures), std::end(kArchitectures), [&](const Architecture& a) { return a.name == t.architecture(); });
  const bool is_known = known != std::end(kArchitectures);
  t.config["model_type"] = is_known ? std::string(known->model_type) : t.architecture();
  if (is_known) t.config["architectures"] = {known->model_class};
  if (is_known && known->rope_interleaved) t.config["rope_interleaved"] = true;
  add_vocabulary(t, file);
  if (t.architecture() == "gpt2") {
    translate_gpt2(t, file);
  } else if (t.architecture() == "bert") {
    translate_bert(t, file);
  } else if (t.architecture() == "gemma3") {
    translate_gemma3(t, file);
  } else {
    translate_llama(t, file);
  }
  return t.config;
}

Json gguf_generation_defaults(const GgufFile& file) {
  constexpr std::string_view kEnds[] = {"<|im_end|>",    "<|eot_id|>",      "<|eom_id|>",   "<|end|>",
                                        "<end_of_turn>", "<|end_of_text|>", "<|endoftext|>"};
  constexpr int64_t kControl = 3;  // a token type
  Json defaults = {{"eos_token_ids", Json::array()}};
  const auto add_end = [&](int64_t id) {
    Json& ids = defaults["eos_token_ids"];
    if (std::find(ids.begin(), ids.end(), Json(id)) == ids.end()) ids.push_back(id);
  };
  for (const char* key : {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"})
    if (const auto id = file.integer(key)) add_end(*id);
  const std::vector<std::string_view> tokens = file.strings("tokenizer.ggml.tokens").value_or(std::vector<std::string_view>());
  const std::vector<int64_t> types = file.integers("tokenizer.ggml.token_type").value_or(std::vector<int64_t>());
  for (size_t id = 0; id < std::min(tokens.size(), types.size()); ++id)
    if (types[id] == kControl && std::find(std::begin(kEnds), std::end(kEnds), tokens[id]) != std::end(kEnds)) add_end(int64_t(id));
  if (const auto id = file.integer("tokenizer.ggml.bos_token_id")) defaults["bos_token_id"] = *id;
  if (const auto id = file.integer("tokenizer.ggml.padding_token_id")) defaults["pad_token_id"] = *id;
  return defaults;
}

Json gguf_pooling(const GgufFile& file) {
  constexpr const char* kModes[] = {"none", "mean", "cls", "lasttoken", "rank"};
  const auto type = file.integer(architecture_name(file) + ".pooling_type");
  if (!type || *type <= 0) return nullptr;
  if (*type >= int64_t(std::size(kModes))) invalid("{}: pooling type {} is not known", file.where(), *type);
  return {{"mode", kModes[*type]}, {"normalize", true}};
}

}  // namespace headrace
