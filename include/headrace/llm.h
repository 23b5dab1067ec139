// LLM: text in, text out. A tokenizer, a chat template and stop strings around an Executor (executor.h).
//
//   LLM llm("SmolLM2-135M-Instruct.gguf");
//   std::cout << llm.generate("The capital of France is", {.max_tokens = 8}).text;
//   llm.chat({{"user", "Why is the sky blue?"}}, {}, [](const Completion& piece) { std::cout << piece.text << std::flush; });
#pragma once

#include "headrace/chat_template.h"
#include "headrace/executor.h"

namespace headrace {

// ---------------------------------------------------------------------------------------------------------------- in

// A text or its tokens; strings and vectors of ids are prompts.
struct Prompt {
  Prompt(std::string text) : text(std::move(text)) {}  // NOLINT
  Prompt(const char* text) : text(text) {}             // NOLINT
  // Throws Error(kInvalidArgument) when there are none: no ids are not an empty text, which may begin with a begin token.
  Prompt(std::vector<int32_t> token_ids);  // NOLINT

  std::string text;                // UTF-8
  std::vector<int32_t> token_ids;  // when not empty, the prompt: text is not looked at
  bool add_special = true;         // begin token and the like, as the model's tokenizer is configured
  bool parse_special = false;      // what is spelled like a control token is one. Not for text from strangers
  bool only_known_tokens = true;  // rows of the vocabulary that the tokenizer has no token for are never sampled. Ids are taken as they are
};

struct GenerateOptions {
  std::optional<int> max_tokens;  // absent: as many as the context holds
  int min_tokens = 0;
  SamplingParams sampling;        // greedy unless set
  std::vector<std::string> stop;  // the text ends before the first of these
  bool include_stop = false;      // or after it
  std::vector<int32_t> stop_token_ids;
  bool ignore_eos = false;
  std::vector<std::vector<int32_t>> bad_words;
  bool keep_special = false;  // control tokens are written out in the text
  OutputOptions output;
  int priority = 0;
};

// ---------------------------------------------------------------------------------------------------------------- out

struct TextToken {
  int32_t id = 0;
  std::string text;   // what it adds, bytes that are not UTF-8 replaced by U+FFFD
  std::string bytes;  // what it adds
  float logprob = 0;
};
struct TextLogprobs : TextToken {
  std::vector<TextToken> top;  // likeliest first
};

// What has been generated: all of it, or while streaming what came since the last piece. The texts of all pieces joined are
// the whole: characters are never split, and nothing is written that could be the beginning of a stop string.
struct Completion {
  std::string text;                // valid UTF-8
  std::vector<int32_t> token_ids;  // up to the one that completed a stop string
  FinishReason finish = FinishReason::kNone;
  std::string stop_string;  // the one that ended it, if one did
  std::string error;
  std::vector<TextLogprobs> logprobs;         // of token_ids
  std::vector<TextLogprobs> prompt_logprobs;  // entry i is for prompt token i + 1
  int num_prompt_tokens = 0, num_cached_tokens = 0;
  Timings timings;

  bool finished() const { return finish != FinishReason::kNone; }
  void append(Completion piece);  // the piece that came next
};
using CompletionCallback = std::function<void(const Completion&)>;

// A completion under way. Given up before its end, it is cancelled. Must not outlive its LLM.
class Generation {
 public:
  Generation(Generation&&) noexcept;
  Generation& operator=(Generation&&) noexcept;
  ~Generation();

  RequestId id() const;
  // The next piece; the last one is finished(). Nothing when the time is over first. Throws Error(kNotFound) after the last.
  std::optional<Completion> next(std::optional<std::chrono::nanoseconds> timeout = {});
  void cancel();  // next() then says so, soon

 private:
  friend class LLM;
  struct State;
  explicit Generation(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// ---------------------------------------------------------------------------------------------------------------- LLM

// All functions may be called from any thread, and throw Error for bad requests.
class LLM {
 public:
  struct Parts {
    std::unique_ptr<Executor> executor;
    std::shared_ptr<const Tokenizer> tokenizer;         // null: prompts are token ids, and texts are empty
    std::shared_ptr<const ChatTemplate> chat_template;  // may be null
    std::string origin;                                 // for errors: the model's path
    std::string chat_template_error;                    // why it is null though the model has one
  };
  // A Hugging Face folder, a .gguf file or an engine. A model without tokenizer files takes token ids and gives token ids.
  explicit LLM(const std::string& path, const LoadOptions& options = {});
  explicit LLM(Engine engine, const LoadOptions& options = {});  // headrace/engine.h
  explicit LLM(Parts parts);
  ~LLM();
  LLM(LLM&&) noexcept;
  LLM& operator=(LLM&&) noexcept;

  // Waits for the whole. `on_piece`, if given, sees every piece first, on the calling thread.
  Completion generate(const Prompt& prompt, const GenerateOptions& options = {}, const CompletionCallback& on_piece = {});
  // All at once, in a batch; completions in the order of prompts.
  std::vector<Completion> generate(std::span<const Prompt> prompts, const GenerateOptions& options = {});
  Completion chat(std::span<const Message> messages, const GenerateOptions& options = {}, const CompletionCallback& on_piece = {});
  Completion chat(std::initializer_list<Message> messages, const GenerateOptions& options = {}, const CompletionCallback& on_piece = {});

  // Starts and returns at once. The pieces are taken with next(), or go to on_piece on the Executor's callback thread.
  Generation start(const Prompt& prompt, const GenerateOptions& options = {});
  RequestId start(const Prompt& prompt, const GenerateOptions& options, CompletionCallback on_piece);
  void cancel(RequestId id);

  // The prompt of a conversation, ready for an answer; what people write in it never becomes a control token (ChatEncoder). Throws Error
  // when the model has no chat template, or it refuses.
  Prompt chat_prompt(std::span<const Message> messages) const;
  // The same from JSON as in OpenAI's API: an array of messages, with whatever else the template understands; and an array of
  // tools, or "".
  Prompt chat_prompt_from_json(std::string_view messages, std::string_view tools = {}) const;
  std::vector<int32_t> encode(const Prompt& prompt) const;
  std::string decode(std::span<const int32_t> token_ids) const;  // valid UTF-8

  Executor& executor();
  bool has_tokenizer() const;
  bool has_chat_template() const;
  // Throw Error(kNotFound) that says so when the model has none, Error(kInvalidArgument) for a template that cannot be parsed.
  const Tokenizer& tokenizer() const;
  const ChatTemplate& chat_template() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace headrace
