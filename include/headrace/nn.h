// Layers: functions from a Scope and Values to Values. A model's author writes no word on batches, caches, ranks or quantization.
// What does not fit throws Error(kInvalidArgument) that names the layer's path and the author's line:
//   "model.layers.3.mlp.up_proj: linear(f32[tokens, 64], f32[128, 65]): ... (at my_model.cpp:42)".
#pragma once

#include <functional>
#include <optional>
#include <source_location>
#include <string>

#include "headrace/functional.h"

namespace headrace::nn {

// What a checkpoint stores under a name; nothing when it has no such tensor.
using StoredTypes = std::function<std::optional<TensorType>(const std::string& path)>;

// A place in the tree of weights: at / "layers" / 3 / "mlp". Parameters are declared by their path in the checkpoint.
class Scope {
 public:
  // Parameters get the element type that is stored; those the checkpoint lacks get `fallback`.
  explicit Scope(Graph& graph, StoredTypes stored = {}, DType fallback = DType::kF32)
      : graph_(&graph), stored_(std::move(stored)), fallback_(fallback) {}

  Scope operator/(std::string_view name) const;
  Scope operator/(int index) const { return *this / std::to_string(index); }
  Value parameter(std::string_view name, Shape shape, std::source_location where = std::source_location::current()) const;
  bool has(std::string_view name) const;  // whether the checkpoint stores it
  Graph& graph() const { return *graph_; }
  const std::string& path() const { return path_; }

 private:
  Graph* graph_;
  StoredTypes stored_;
  DType fallback_;
  std::string path_;
};

// Names a value after a place in the model, and returns it. Layers name what they return after their scope
// ("model.layers.3.self_attn.o_proj"); marks (headrace/compile.h), dumps and pictures know values by these names.
Value named(const Scope& at, Value value);

// The inputs that every language model may read, declared on first use.
//   tokens (tokens), positions (tokens), sequence_offsets (sequences + 1), logit_rows (rows): int32. Tokens of all sequences are
//   packed one after the other; sequence s has tokens sequence_offsets[s] to sequence_offsets[s + 1].
Value tokens(Graph& graph);
Value positions(Graph& graph);
Value sequence_offsets(Graph& graph);
// (tokens) int32: how many tokens the sequence had when this one was read: all of the prompt's for a token of the prompt.
Value reach(Graph& graph);
// The rows of x (tokens, hidden) whose logits are wanted: (rows, hidden).
Value select_logit_rows(Operand x);

struct LinearOptions {
  bool bias = false;
  bool in_out = false;  // the weight is stored (in, out), as GPT-2's Conv1D does
  Parallel parallel = Parallel::kNone;
};
// weight (out, in), bias (out).
Value linear(const Scope& at, Operand x, int64_t out_features, const LinearOptions& options = {});
// weight (rows, hidden).
Value embedding(const Scope& at, Operand ids, int64_t rows, int64_t hidden);
// Over the last axis; weight and bias (hidden).
Value rms_norm(const Scope& at, Operand x, float eps);
Value layer_norm(const Scope& at, Operand x, float eps);

enum class Activation { kSilu, kGelu, kGeluTanh, kGeluSigmoid, kRelu, kReluSquared, kSigmoid, kTanh, kNone };
// Hugging Face's names: silu, swish, gelu, gelu_python, gelu_new, gelu_fast, gelu_pytorch_tanh, quick_gelu, relu, relu2, sigmoid, tanh,
// linear. Throws Error(kUnsupported) for others.
Activation parse_activation(const std::string& name);
Value activate(Operand x, Activation activation);

// up_proj, down_proj: down(act(up(x))).
Value mlp(const Scope& at, Operand x, int64_t intermediate, Activation activation, bool bias);
// gate_proj, up_proj, down_proj: down(act(gate(x)) * up(x)). Shazeer 2020.
Value gated_mlp(const Scope& at, Operand x, int64_t intermediate, Activation activation, bool bias);

// How rotary frequencies are stretched for longer contexts. Names as in Hugging Face's rope_scaling.
struct RopeScaling {
  enum class Kind { kNone, kLinear, kLlama3, kYarn, kLongRope } kind = Kind::kNone;
  double factor = 1;
  double low_freq_factor = 1, high_freq_factor = 4;                // llama3
  double original_max_position = 0;                                // llama3, yarn, longrope
  double beta_fast = 32, beta_slow = 1;                            // yarn
  std::optional<double> attention_factor, mscale, mscale_all_dim;  // yarn; the first of longrope too
  bool truncate = true;                                            // yarn: round the correction range
  // longrope: what divides each frequency (rotary_dim / 2) while a sequence is within the original context, and beyond it. The factor
  // says how much longer the context has become.
  std::vector<double> short_factors, long_factors;
};

struct RopeOptions {
  int64_t head_dim = 0;
  int64_t rotary_dim = 0;  // 0: head_dim
  double theta = 10000;
  RopeScaling scaling;
  bool interleaved = false;  // turns neighbours (2i, 2i + 1) instead of halves
  // Instead of numbers in `scaling`, values (rotary_dim / 2) that divide the inverse frequencies: GGUF's rope_freqs; of longrope both.
  Value frequency_divisors, long_frequency_divisors;
};
// Inverse frequencies (rotary_dim / 2) and the factor on cos and sin. Su et al. 2021; Peng et al. 2023 (yarn); Llama 3.1; Ding et al. 2024
// (longrope).
struct RopeFrequencies {
  std::vector<float> inverse, long_inverse;  // the second of longrope only
  float scale = 1;
};
RopeFrequencies rope_frequencies(const RopeOptions& options);
// x (tokens, heads * head_dim), rotated by the positions of its tokens.
Value rope(Operand x, const RopeOptions& options);

// q (tokens, heads * head_dim), k and v (tokens, kv_heads * head_dim) -> (tokens, heads * head_dim), within each sequence.
using headrace::AttentionOptions;
Value causal_attention(Operand q, Operand k, Operand v, const AttentionOptions& options);
Value bidirectional_attention(Operand q, Operand k, Operand v, const AttentionOptions& options);

}  // namespace headrace::nn
