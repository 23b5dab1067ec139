// A model's chat template: from a conversation to the text that the model was trained on, as transformers' apply_chat_template.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "jinja/template.h"

namespace headrace::jinja {

// What is rendered. The pointers may be null (the template then sees None) and must outlive the call.
struct Conversation {
  const nlohmann::ordered_json* messages =
      nullptr;                                    // an array of objects; the content is a string or an array of parts, passed on as it is
  const nlohmann::ordered_json* tools = nullptr;  // an array
  const nlohmann::ordered_json* documents = nullptr;  // an array
  const nlohmann::ordered_json* variables = nullptr;  // an object: whatever else the template may ask for, stronger than special tokens
  bool add_generation_prompt = false;
  bool continue_final_message = false;  // ends inside the last message, so that the model goes on with it; excludes add_generation_prompt
};

// Immutable; may be used by several threads at once.
class ChatTemplate {
 public:
  using NamedSource = std::pair<std::string, std::string>;                 // name, template
  using SpecialTokens = std::vector<std::pair<std::string, std::string>>;  // "bos_token", its text

  // One template, or several by name ("default", "tool_use", "rag" ...). Throws TemplateError for one that cannot be parsed,
  // Error when there is none.
  ChatTemplate(std::string_view source, SpecialTokens special_tokens);
  ChatTemplate(const std::vector<NamedSource>& sources, SpecialTokens special_tokens);

  // What tokenizer_config.json holds in chat_template: a string, or an array of {name, template}. Throws Error.
  static std::vector<NamedSource> sources_from_json(const nlohmann::json& chat_template, std::string_view where);

  // `name`: of the template; if empty, "tool_use" when there are tools and such a template, else "default" or the only one.
  // Throws TemplateError, also when the template refuses the conversation; Error for a conversation of the wrong form.
  std::string render(const Conversation& conversation, const RenderOptions& options = {}, std::string_view name = {}) const;

 private:
  const Template& pick(std::string_view name, bool has_tools) const;

  std::vector<std::pair<std::string, Template>> templates_;
  SpecialTokens special_tokens_;
};

}  // namespace headrace::jinja
