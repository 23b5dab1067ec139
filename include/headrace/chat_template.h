// Chat templates: from a conversation to the text that a model was trained on, as transformers' apply_chat_template.
//
//   auto chat_template = load_chat_template("SmolLM2-135M-Instruct.gguf");      // null when the model has none
//   std::string text = chat_template->render({{"user", "Why is the sky blue?"}});
//   ChatEncoder encoder(load_tokenizer("SmolLM2-135M-Instruct.gguf"), chat_template);
//   std::vector<int32_t> ids = encoder.encode({{"user", "Why is the sky blue?"}});
#pragma once

#include <ctime>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headrace/tokenizer.h"

namespace headrace {

namespace jinja {
class ChatTemplate;
}

struct Message {
  std::string role;  // "system", "user", "assistant"
  std::string content;
};

struct RenderChatOptions {
  bool add_generation_prompt = true;    // ends where the answer begins
  bool continue_final_message = false;  // ends inside the last message, for the model to go on with; excludes add_generation_prompt
  // JSON text as in OpenAI's API; empty: none.
  std::string tools;           // an array
  std::string documents;       // an array
  std::string variables;       // an object: whatever else the template asks for, stronger than special tokens
  std::string name;            // of the template where there are several; empty: "tool_use" with tools if there is one, else "default"
  std::optional<std::tm> now;  // what strftime_now sees; absent: the local time
};

// Immutable: any number of threads may use one at once. Rendering is bounded in work, memory, nesting and output.
class ChatTemplate {
 public:
  using SpecialTokens = std::vector<std::pair<std::string, std::string>>;  // {"bos_token", "<s>"}

  // Jinja. Throws Error(kInvalidArgument) for a template that cannot be parsed.
  explicit ChatTemplate(std::string_view source, SpecialTokens special_tokens = {});
  explicit ChatTemplate(std::unique_ptr<const jinja::ChatTemplate> parsed);  // for Headrace's own loaders
  ~ChatTemplate();
  ChatTemplate(ChatTemplate&&) noexcept;
  ChatTemplate& operator=(ChatTemplate&&) noexcept;

  // Throws Error for messages that are not valid UTF-8, and when the template refuses the conversation.
  std::string render(std::span<const Message> messages, const RenderChatOptions& options = {}) const;
  std::string render(std::initializer_list<Message> messages, const RenderChatOptions& options = {}) const;
  // `messages`: a JSON array as in OpenAI's API, whose objects hold whatever the template understands.
  std::string render_json(std::string_view messages, const RenderChatOptions& options = {}) const;

  const jinja::ChatTemplate& parsed() const { return *parsed_; }  // for Headrace's own use

 private:
  std::unique_ptr<const jinja::ChatTemplate> parsed_;
};

// `path` as load_tokenizer takes it. Null when the model has no chat template; throws Error for one that cannot be parsed.
std::shared_ptr<const ChatTemplate> load_chat_template(const std::string& path);

// Conversations as tokens. What people write never becomes a control token: only the template's own text does. Any number of threads may
// use one at once.
class ChatEncoder {
 public:
  ChatEncoder(std::shared_ptr<const Tokenizer> tokenizer, std::shared_ptr<const ChatTemplate> chat_template);
  ~ChatEncoder();
  ChatEncoder(ChatEncoder&&) noexcept;
  ChatEncoder& operator=(ChatEncoder&&) noexcept;

  // The tokens of the rendered conversation. Throws Error as ChatTemplate::render.
  std::vector<int32_t> encode(std::span<const Message> messages, const RenderChatOptions& options = {}) const;
  std::vector<int32_t> encode(std::initializer_list<Message> messages, const RenderChatOptions& options = {}) const;
  std::vector<int32_t> encode_json(std::string_view messages, const RenderChatOptions& options = {}) const;

 private:
  struct Impl;
  std::unique_ptr<const Impl> impl_;
};

}  // namespace headrace
