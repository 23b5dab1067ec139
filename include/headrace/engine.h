// The engine: a model built for running. In memory it is this struct, on disk one file, which any safetensors reader opens
// (docs/engine-format.md). It is bound to no processor, and runs nothing itself: Executor, LLM, Encoder and Session do.
//
//   Engine engine = build_engine("SmolLM2-135M-Instruct");        // headrace/build.h
//   write_engine(engine, "smollm2.engine");
//   LLM llm(read_engine("smollm2.engine"));                       // headrace/llm.h
#pragma once

#include "headrace/graph.h"
#include "headrace/weights.h"

namespace headrace {

class ChatTemplate;
class Plugins;
class Tokenizer;

struct Engine {
  std::string origin;  // for people: the path that it was built from or read from
  Graph program;       // after all passes
  ModelKind kind = ModelKind::kDecoder;
  int64_t vocab_size = 0;
  int64_t max_positions = 0;                    // the longest context that the model was made for
  std::string config = "null";                  // JSON: the checkpoint's config.json in one spelling
  std::string generation = "null";              // JSON: what to do when a user says nothing: eos_token_ids, temperature ...
  std::string pooling = "null";                 // JSON: how an encoder's vectors are pooled
  TextFiles text;                               // of the tokenizer and the chat template; may be empty
  std::shared_ptr<const WeightSource> weights;  // null in an engine without weights
  std::shared_ptr<const Plugins> plugins;       // whose kernels run it; null: none. Their ops come with the program
  bool exact = false;                           // products in fp32 with weights widened exactly
  std::string tactics;                          // JSON: which kernels were fastest on a device; empty: not known
};

// ---------------------------------------------------------------------------------------------------------------- on disk

enum class WeightsMode {
  kEmbed,  // in the engine's file
  kLink,   // the file refers to the checkpoint's, which must stay where they are or move along
  kNone,   // a program without weights, to look at, or to give weights when it is read (refit)
};

// Written aside and renamed: an interrupted write leaves nothing behind. Throws Error(kInvalidArgument) for kLink when a weight is
// not in a file.
void write_engine(const Engine& engine, const std::string& path, WeightsMode mode = WeightsMode::kEmbed);

struct ReadOptions {
  bool weights = true;                     // false: those of the file, or that it links, are not looked at; refit gives others
  std::shared_ptr<const Plugins> plugins;  // headrace/plugins.h: their ops and kernels
};
// Throws Error(kInvalidArgument) when the file is damaged or of a later format, or when a linked file is missing or has changed;
// Error(kNotFound), naming them, when the program has ops of plugins that are not among those of the options.
// Damaged tactics are no error: the log says so, and kernels are chosen without them.
Engine read_engine(const std::string& path, const ReadOptions& options = {});
// The tokenizer's and the chat template's files alone. Needs no plugins.
TextFiles read_engine_text(const std::string& path);

// By how it begins or by its metadata; false for other files, also for other safetensors files. True for one that is cut short.
bool is_engine_file(const std::string& path);

// ---------------------------------------------------------------------------------------------------------------- other weights

// Gives the engine other weights, or its first ones. Only they change: what comes of the engine equals, bit for bit, what a build with
// these weights gives. Throws Error(kInvalidArgument) that lists everything missing, extra, misshapen or of another type than the program
// was built for; the engine is then as it was. What runs already has a refit of its own: Session, Encoder, Executor.
void refit(Engine& engine, std::shared_ptr<const WeightSource> weights);

// ---------------------------------------------------------------------------------------------------------------- what is in it

struct EngineInfo {
  struct Weights {
    int64_t tensors = 0, parameters = 0, bytes = 0;
  };
  std::string model_type;  // config.json's, "llama"; empty when it does not say
  int64_t num_nodes = 0;
  int64_t num_parameters = 0;
  int64_t weight_bytes = 0;        // as stored
  int64_t kv_bytes_per_token = 0;  // that one token of a sequence takes in the KV cache, over all layers; 0 for encoders
  std::map<DType, Weights> dtypes;
  std::vector<std::string> plugins;  // whose ops the program has, by name
};
EngineInfo inspect(const Engine& engine);

// Null when the engine carries no tokenizer files. Throws Error for damaged ones.
std::shared_ptr<const Tokenizer> load_tokenizer(const Engine& engine);
// Null when it has no chat template. Throws Error for one that cannot be parsed.
std::shared_ptr<const ChatTemplate> load_chat_template(const Engine& engine, const Tokenizer& tokenizer);

}  // namespace headrace
