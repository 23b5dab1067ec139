// The Executor serves requests of token ids on one model: batching in flight, paged KV, streaming, cancelling.
// Near TensorRT-LLM's Executor, so that its users can move; text belongs to LLM (llm.h), which stands on this.
//
//   std::unique_ptr<Executor> executor = load_executor("SmolLM2-135M.gguf");
//   RequestId id = executor->enqueue({.token_ids = {1, 42, 7}, .max_tokens = 32, .streaming = true});
//   while (auto response = executor->await(id)) {
//     use(response->token_ids);
//     if (response->finished()) break;
//   }
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "headrace/logits_processor.h"
#include "headrace/types.h"

namespace headrace {

class Debugger;
class Plugins;
class WeightSource;
struct CompileOptions;

namespace runtime {
class Model;
}

using RequestId = uint64_t;

// ---------------------------------------------------------------------------------------------------------------- requests

// How the next token is chosen. Applied in this order: repetition, presence and frequency penalty, bias, min_tokens, bad words, processors,
// temperature, top_k, top_p, min_p. A result depends on the request and its seed alone, never on what else runs.
struct SamplingParams {
  struct Bias {
    int32_t token = 0;
    float bias = 0;  // added to the logit; -infinity forbids the token
  };
  struct Processor {
    std::string name;     // one of ExecutorOptions::logits_processors
    std::string options;  // what that understands: JSON, or ""
  };
  float temperature = 0;         // below 1e-5: greedy, the lowest id among equals
  int top_k = 0;                 // only the k likeliest, and what is as likely as the last of them; 0: all, 1: greedy
  float top_p = 1;               // only the likeliest that together reach p (of what top_k left); never fewer than one
  float min_p = 0;               // only those at least min_p times as likely as the likeliest
  float repetition_penalty = 1;  // once per distinct token of prompt and output: a positive logit is divided, a negative one multiplied
  float presence_penalty = 0;    // subtracted from each token that the output holds already
  float frequency_penalty = 0;   // subtracted once per time that the output holds it
  std::vector<Bias> logit_bias;
  std::vector<Processor> processors;  // in this order
  int vocab_limit = 0;                // ids from here on are neither sampled nor listed as likely; 0: the whole vocabulary. LLM sets it to
                                      // where its tokenizer's tokens end
  std::optional<uint64_t> seed;       // absent: random, from the operating system
};

// Hands over the fp32 logits of consecutive positions, each position once and in order.
//   first_position  in the sequence, counted from 0; row i predicts token first_position + i + 1
//   logits          (rows, vocabulary), valid during the call
// Called on the thread that steps: be quick, and do not call the Executor.
using LogitsCallback = std::function<void(int first_position, std::span<const float> logits, int vocab_size)>;

// What comes back besides the tokens. Log-probabilities are the log-softmax of the model's raw logits, over its whole
// vocabulary, before penalties, bias and temperature.
struct OutputOptions {
  std::optional<int> logprobs;         // for each new token, with those of the K likeliest (0: the token's own only)
  std::optional<int> prompt_logprobs;  // the same for the prompt. Its tokens are then computed, not taken from the prefix cache
  LogitsCallback on_logits;            // likewise
};

inline constexpr int kMaxLogprobs = 1024;

struct Request {
  std::vector<int32_t> token_ids;  // the prompt; at least one token
  std::optional<int> max_tokens;   // absent: as many as the context holds; 0: only the prompt is computed
  int min_tokens = 0;              // until then neither the model's end token nor stop_token_ids can be sampled
  bool streaming = false;          // a response whenever there are new tokens, not only at the end
  SamplingParams sampling;
  OutputOptions output;
  std::vector<int32_t> stop_token_ids;          // end the sequence, besides the model's own end tokens
  bool ignore_eos = false;                      // the model's own end tokens do not end it
  std::vector<std::vector<int32_t>> bad_words;  // token sequences that must not come about
  int priority = 0;                             // higher ones are served first; equals in the order of their arrival
};

// ---------------------------------------------------------------------------------------------------------------- responses

enum class FinishReason {
  kNone,       // not finished
  kStop,       // an end token or one of stop_token_ids, which is the last of the tokens
  kLength,     // max_tokens, or the context is full
  kCancelled,  // by cancel() or shutdown()
  kError,      // Response::error says why
};
std::string_view name(FinishReason reason);  // "stop", "length", "cancelled", "error"; "" for kNone

struct TokenLogprob {
  int32_t token = 0;
  float logprob = 0;
};
struct TokenLogprobs {
  float logprob = 0;              // of the token itself
  std::vector<TokenLogprob> top;  // the K likeliest, likeliest first
};

// Seconds since the request was enqueued. What has not happened yet is absent.
struct Timings {
  std::optional<double> scheduled_s;  // it left the queue
  std::optional<double> first_token_s;
  std::optional<double> finished_s;
  std::optional<double> seconds_per_token;  // mean of the tokens after the first
};

struct Response {
  RequestId id = 0;
  std::vector<int32_t> token_ids;  // new since the last response, so all of them unless streaming
  FinishReason finish = FinishReason::kNone;
  std::string error;                           // what went wrong, for kError
  std::vector<TokenLogprobs> logprobs;         // of token_ids, one each, when asked for
  std::vector<TokenLogprobs> prompt_logprobs;  // entry i is for prompt token i + 1 (nothing precedes the first); in the first response
  int num_prompt_tokens = 0;
  int num_cached_tokens = 0;  // of them, taken from the prefix cache
  Timings timings;

  bool finished() const { return finish != FinishReason::kNone; }
};

// Called on a thread of the Executor's that only runs callbacks. A slow one delays other callbacks but never a step;
// tokens that arrive meanwhile come together in its next response.
using ResponseCallback = std::function<void(Response)>;

// ---------------------------------------------------------------------------------------------------------------- executor

enum class SchedulingPolicy {
  kNoEvict,         // a request starts when the KV cache has room for its longest possible output
  kMaxUtilization,  // it starts when its prompt fits; when room runs out, the newest is stopped and computed again later
};

struct ExecutorOptions {
  SchedulingPolicy policy = SchedulingPolicy::kNoEvict;
  int max_sequences = 0;               // running at once; 0: what the model allows
  int max_queued = 0;                  // waiting at once, beyond which enqueue fails; 0: no limit
  int max_step_tokens = 0;             // tokens computed per step; longer prompts are cut into chunks; 0: what the model allows
  bool prefix_cache = true;            // equal beginnings of prompts are computed once; not with longrope
  std::vector<int32_t> eos_token_ids;  // the model's own end tokens
  LogitsProcessors logits_processors;  // that requests may choose, by name
};

struct ExecutorStats {
  int running = 0, queued = 0;  // requests now
  int kv_blocks = 0;            // in all
  int kv_blocks_used = 0;       // held by running requests
  int kv_blocks_cached = 0;     // held for prompts to come, given up when needed
  int64_t steps = 0, failed_steps = 0, preemptions = 0;
  int64_t finished_requests = 0;
  int64_t prompt_tokens = 0;         // computed, without those from the prefix cache
  int64_t cached_prompt_tokens = 0;  // taken from the prefix cache
  int64_t generated_tokens = 0;
  double tokens_per_s = 0;  // generated, over the last second or so of work
  double step_s = 0;        // time of all steps together
};

enum class Shutdown { kDrain, kCancel };

enum class Refit {
  kDrain,      // what runs is finished with the old weights, and what waits begins with the new ones
  kRecompute,  // what runs goes on with the new weights: its tokens so far stay, and are computed again
};

// All functions may be called from any thread.
class Executor {
 public:
  // Throws Error(kInvalidArgument) when the options do not fit the model.
  Executor(std::unique_ptr<runtime::Model> model, ExecutorOptions options);
  // Cancels what is left. Nobody may be waiting in await then.
  ~Executor();
  Executor(Executor&&) noexcept;
  Executor& operator=(Executor&&) noexcept;

  // Throws Error: kInvalidArgument for a bad request, kOutOfMemory when the queue is full, kUnsupported after shutdown.
  // Responses are kept until they are awaited.
  RequestId enqueue(Request request);
  // The same, with responses going to `callback` instead of await.
  RequestId enqueue(Request request, ResponseCallback callback);

  // The next response of a request. Nothing when the time is over first. The id is forgotten once its last response was taken;
  // then, and for requests with a callback, throws Error(kNotFound).
  std::optional<Response> await(RequestId id, std::optional<std::chrono::nanoseconds> timeout = {});
  // The next response of every request that has one, whoever enqueued it; waits until there is at least one.
  // Empty when the time is over first, or when no request is left that could have one.
  std::vector<Response> await_any(std::optional<std::chrono::nanoseconds> timeout = {});

  // In whatever state the request is; its last response says kCancelled and has the tokens so far. Does nothing if it is finished.
  void cancel(RequestId id);
  // Cancels, and forgets the request: its responses are not kept, its callback is not called again.
  void discard(RequestId id);

  ExecutorStats stats() const;

  // No request is accepted from now on; those present are completed or cancelled. Returns when their responses are out.
  // Not to be called from a callback.
  void shutdown(Shutdown how = Shutdown::kDrain);

  // Other weights for the same program (refit in headrace/engine.h): made ready on the calling thread while requests are served, in memory
  // of their own, and put in place between two steps. Nothing in the KV cache outlives the old ones. Returns when every token to come is
  // computed with the new weights. Throws Error: weights that do not fit, as when loading, no memory (the old ones stay), or kUnsupported
  // after shutdown.
  void refit(std::shared_ptr<const WeightSource> weights, Refit how = Refit::kDrain);

  int max_context() const;  // tokens of prompt and output together that one request can have
  int vocab_size() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// ---------------------------------------------------------------------------------------------------------------- loading

struct LoadOptions {
  std::string device = "auto";  // or "cpu", which is the same today
  std::string dtype = "auto";   // weights as stored, fast products; "fp32": exact products; "bf16", "fp16": float matrices are converted
  int num_threads = 0;          // 0: one per core that this process may use
  int context = 0;              // tokens that a sequence may have; 0: the model's, as far as a quarter of the memory goes
  std::string checkpoint;       // of an engine: takes its weights from here instead (refit in headrace/build.h); it may have none
  std::optional<uint64_t> random_weights;  // a seed: weights of chance, for measuring; only the configuration is read
  // How a checkpoint's graph becomes a program (headrace/compile.h): marks, passes. null: as usual. An engine's has become one.
  std::shared_ptr<const CompileOptions> passes;
  std::shared_ptr<Debugger> debugger;      // looks into runs (headrace/debug.h); may be null
  ExecutorOptions executor;                // eos_token_ids are the model's, unless given; processors of plugins are added
  std::shared_ptr<const Plugins> plugins;  // headrace/plugins.h; null: those of the engine, if it was made with any
};

struct Engine;

// `path`: a Hugging Face folder, a .gguf file or an engine; anything but an engine is built in memory. Throws Error.
std::unique_ptr<Executor> load_executor(const std::string& path, const LoadOptions& options = {});
std::unique_ptr<Executor> load_executor(Engine engine, const LoadOptions& options = {});  // headrace/engine.h
// What load_executor(path) runs. Throws Error, also for a device or dtype that is not known.
Engine load_engine(const std::string& path, const LoadOptions& options = {});

}  // namespace headrace
