#include "headrace/llm.h"

#include <algorithm>
#include <iterator>

#include "core/error.h"
#include "core/utf8.h"
#include "llm/messages.h"
#include "llm/text_stream.h"

namespace headrace {

Prompt::Prompt(std::vector<int32_t> ids) : token_ids(std::move(ids)), only_known_tokens(false) {
  if (token_ids.empty()) invalid("the prompt is empty: give at least one token");
}

void Completion::append(Completion piece) {
  const auto move_to = [](auto& to, auto& from) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  };
  text += piece.text;
  move_to(token_ids, piece.token_ids);
  move_to(logprobs, piece.logprobs);
  move_to(prompt_logprobs, piece.prompt_logprobs);
  finish = piece.finish;
  stop_string = std::move(piece.stop_string);
  error = std::move(piece.error);
  num_prompt_tokens = piece.num_prompt_tokens;
  num_cached_tokens = piece.num_cached_tokens;
  timings = piece.timings;
}

struct Generation::State {
  Executor* executor;
  RequestId id;
  TextStream stream;
  bool finished = false;
};

Generation::Generation(std::unique_ptr<State> state) : state_(std::move(state)) {}
Generation::Generation(Generation&&) noexcept = default;
Generation::~Generation() {
  if (state_ && !state_->finished) state_->executor->discard(state_->id);
}
Generation& Generation::operator=(Generation&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

RequestId Generation::id() const { return state_->id; }
void Generation::cancel() { state_->executor->cancel(state_->id); }

std::optional<Completion> Generation::next(std::optional<std::chrono::nanoseconds> timeout) {
  if (state_->finished) fail(ErrorCode::kNotFound, "request {}: its last piece was taken already", state_->id);
  const std::optional<Response> response = state_->executor->await(state_->id, timeout);
  if (!response) return std::nullopt;
  Completion piece = state_->stream.push(*response);
  state_->finished = piece.finished();
  if (piece.finished() && !response->finished()) state_->executor->discard(state_->id);  // a stop string
  return piece;
}

// ---------------------------------------------------------------------------------------------------------------- LLM

namespace {

Request make_request(std::vector<int32_t> token_ids, const GenerateOptions& options, int vocab_limit) {
  for (size_t i = 0; i < options.stop.size(); ++i)
    if (options.stop[i].empty()) invalid("stop[{}] is empty: a stop string has at least one character", i);
  SamplingParams sampling = options.sampling;
  if (sampling.vocab_limit == 0) sampling.vocab_limit = vocab_limit;
  return {.token_ids = std::move(token_ids),
          .max_tokens = options.max_tokens,
          .min_tokens = options.min_tokens,
          .streaming = true,
          .sampling = std::move(sampling),
          .output = options.output,
          .stop_token_ids = options.stop_token_ids,
          .ignore_eos = options.ignore_eos,
          .bad_words = options.bad_words,
          .priority = options.priority};
}

Completion wait_for_all(Generation& generation, const CompletionCallback& on_piece) {
  Completion whole;
  while (!whole.finished()) {
    Completion piece = *generation.next();
    if (on_piece) on_piece(piece);
    whole.append(std::move(piece));
  }
  return whole;
}

}  // namespace

struct LLM::Impl {
  explicit Impl(Parts p) : parts(std::move(p)) {
    if (parts.tokenizer && parts.chat_template) chat_encoder.emplace(parts.tokenizer, parts.chat_template);
  }

  Parts parts;
  std::optional<ChatEncoder> chat_encoder;

  int vocab_limit(const Prompt& prompt) const {
    if (!prompt.only_known_tokens || !parts.tokenizer) return 0;
    return std::min(int(parts.tokenizer->vocab_size()), parts.executor->vocab_size());
  }
  // Names the model in an error.
  std::string here() const { return parts.origin.empty() ? "LLM" : parts.origin; }
};

LLM::LLM(Parts parts) {
  if (!parts.executor) invalid("LLM: an executor is needed");
  impl_ = std::make_unique<Impl>(std::move(parts));
}
LLM::~LLM() = default;
LLM::LLM(LLM&&) noexcept = default;
LLM& LLM::operator=(LLM&&) noexcept = default;

Executor& LLM::executor() { return *impl_->parts.executor; }
bool LLM::has_tokenizer() const { return impl_->parts.tokenizer != nullptr; }
const Tokenizer& LLM::tokenizer() const {
  if (!has_tokenizer())
    fail(ErrorCode::kNotFound, "{}: has no tokenizer files (tokenizer.json, tokenizer.model, ...); text needs them: give token ids instead",
         impl_->here());
  return *impl_->parts.tokenizer;
}

bool LLM::has_chat_template() const { return impl_->parts.chat_template != nullptr; }
const ChatTemplate& LLM::chat_template() const {
  tokenizer();
  if (!impl_->parts.chat_template_error.empty()) invalid("{}", impl_->parts.chat_template_error);
  if (!has_chat_template())
    fail(ErrorCode::kNotFound, "{}: has no chat template; use a model tuned for chat, or give it plain text", impl_->here());
  return *impl_->parts.chat_template;
}

std::vector<int32_t> LLM::encode(const Prompt& prompt) const {
  if (!prompt.token_ids.empty()) return prompt.token_ids;
  return tokenizer().encode(prompt.text, {.add_special = prompt.add_special, .parse_special = prompt.parse_special});
}

std::string LLM::decode(std::span<const int32_t> token_ids) const { return replace_invalid_utf8(tokenizer().decode(token_ids)); }

Prompt LLM::chat_prompt(std::span<const Message> messages) const { return chat_prompt_from_json(to_json(messages)); }

Prompt LLM::chat_prompt_from_json(std::string_view messages, std::string_view tools) const {
  chat_template();  // throws when there is none
  Prompt prompt(impl_->chat_encoder->encode_json(messages, {.tools = std::string(tools)}));
  prompt.only_known_tokens = true;
  return prompt;
}

// ---------------------------------------------------------------------------------------------------------------- generating

Generation LLM::start(const Prompt& prompt, const GenerateOptions& options) {
  std::vector<int32_t> ids = encode(prompt);
  if (!options.stop.empty()) tokenizer();  // without one there is no text to look for them in
  TextStream stream(impl_->parts.tokenizer, options, ids);
  const RequestId id = executor().enqueue(make_request(std::move(ids), options, impl_->vocab_limit(prompt)));
  return Generation(std::make_unique<Generation::State>(Generation::State{&executor(), id, std::move(stream)}));
}

RequestId LLM::start(const Prompt& prompt, const GenerateOptions& options, CompletionCallback on_piece) {
  std::vector<int32_t> ids = encode(prompt);
  if (!options.stop.empty()) tokenizer();  // without one there is no text to look for them in
  auto stream = std::make_shared<TextStream>(impl_->parts.tokenizer, options, ids);
  return executor().enqueue(make_request(std::move(ids), options, impl_->vocab_limit(prompt)),
                            [stream, on_piece = std::move(on_piece), &executor = executor()](Response response) {
                              const Completion piece = stream->push(response);
                              if (piece.finished() && !response.finished())
                                executor.discard(response.id);  // a stop string; this is the last call
                              on_piece(piece);
                            });
}

void LLM::cancel(RequestId id) { executor().cancel(id); }

Completion LLM::generate(const Prompt& prompt, const GenerateOptions& options, const CompletionCallback& on_piece) {
  Generation generation = start(prompt, options);
  return wait_for_all(generation, on_piece);
}

std::vector<Completion> LLM::generate(std::span<const Prompt> prompts, const GenerateOptions& options) {
  std::vector<Generation> generations;
  for (const Prompt& prompt : prompts) generations.push_back(start(prompt, options));
  std::vector<Completion> completions;
  for (Generation& generation : generations) completions.push_back(wait_for_all(generation, {}));
  return completions;
}

Completion LLM::chat(std::span<const Message> messages, const GenerateOptions& options, const CompletionCallback& on_piece) {
  return generate(chat_prompt(messages), options, on_piece);
}

Completion LLM::chat(std::initializer_list<Message> messages, const GenerateOptions& options, const CompletionCallback& on_piece) {
  return chat(std::span(messages.begin(), messages.size()), options, on_piece);
}

}  // namespace headrace
