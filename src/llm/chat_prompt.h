// A conversation as tokens. What people write never becomes a control token: only the template's own text does.
#pragma once

#include <array>

#include "headrace/llm.h"
#include "jinja/chat_template.h"
#include "text/tokenizer.h"

namespace headrace {

class ChatPrompter {
 public:
  // chat_template may be null.
  ChatPrompter(std::shared_ptr<const Tokenizer> tokenizer, std::shared_ptr<const jinja::ChatTemplate> chat_template);

  // JSON as LLM::chat_prompt_from_json takes it. Throws Error, jinja::TemplateError among them.
  std::vector<int32_t> encode(std::string_view messages, std::string_view tools) const;
  // Of plain messages, their JSON. Throws Error where one is not valid UTF-8.
  static std::string to_json(std::span<const Message> messages);

 private:
  std::string shield(std::string_view text) const;
  std::vector<int32_t> encode_shielded(std::string_view rendered) const;

  std::shared_ptr<const Tokenizer> tokenizer_;
  std::shared_ptr<const jinja::ChatTemplate> template_;
  std::vector<std::string> controls_;       // how control tokens are spelled, longest first
  std::array<bool, 256> begins_control_{};  // by first byte
};

}  // namespace headrace
