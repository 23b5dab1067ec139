// From a checkpoint, or from a graph of your own, to an engine.
#pragma once

#include <optional>

#include "headrace/compile.h"
#include "headrace/engine.h"

namespace headrace {

struct BuildOptions {
  // auto: weights as stored, fast products; fp32: exact products; bf16, fp16: float matrices are converted.
  std::string dtype = "auto";
  std::optional<uint64_t> random_weights;  // a seed: weights of chance, for measuring; only the configuration is read
  CompileOptions passes;                   // kv_cache is decided by the model's kind
  std::shared_ptr<const Plugins> plugins;  // headrace/plugins.h: their formats, families, ops and passes
};

// `checkpoint`: a Hugging Face folder, a .gguf file, or, with random weights, a config.json. Throws Error for anything that does not fit
// together; missing, extra and misshapen weights in one.
Engine build_engine(const std::string& checkpoint, const BuildOptions& options = {});

// A model of your own, as nn.h lets you write it.
//   model     a decoder reads nn::tokens and the like, and has one output, "logits": (rows, vocabulary) float32 of nn::select_logit_rows.
//             An encoder has "last_hidden_state": (tokens, hidden)
//   weights   of its parameters, by name; may be null for an engine to look at
//   text      of its tokenizer: read_text_files(folder); may be empty
// Throws Error when weights and parameters do not fit; random_weights in the options is not looked at.
Engine build_engine(Graph model, std::shared_ptr<const WeightSource> weights, const ModelInfo& info, TextFiles text = {},
                    const BuildOptions& options = {});

// Gives an engine the weights of a checkpoint: a Hugging Face folder, a .gguf file, or a .safetensors file in which they have the engine's
// names. Throws Error as refit (headrace/engine.h), and when the configuration beside them describes another model. Everything else stays
// as it is in the engine: configuration, generation defaults, tokenizer; a line in the log says what differs. Where nothing does, the
// engine is then what build_engine makes of the checkpoint.
void refit(Engine& engine, const std::string& checkpoint);

// Weights of chance for every parameter of a graph, of the types that it declares: for measuring and testing. They depend on the seed and
// the names only. Throws Error(kUnsupported) for types that values cannot be rounded to (the K types).
std::shared_ptr<const WeightSource> random_weights(const Graph& graph, uint64_t seed);

}  // namespace headrace
