#include "jinja/chat_template.h"

#include <algorithm>

#include "core/json.h"
#include "jinja/unicode.h"

namespace headrace::jinja {
namespace {

// Stands at the end of the message that is to be continued while it is rendered. The space shows whether the template trims messages.
constexpr std::string_view kMark = "<|headrace-continues-here|> ";

OrderedJson array_or_null(const OrderedJson* json, std::string_view what) {
  if (!json || json->is_null()) return nullptr;
  if (!json->is_array()) invalid("chat template: {} is {}, wanted an array", what, json->type_name());
  return *json;
}

// The text that ends the last message: its content, or the last text part of it.
OrderedJson::string_t& final_text(OrderedJson& messages) {
  if (messages.empty() || !messages.back().is_object() || !messages.back().contains("content"))
    invalid("chat template: there is no final message with content to continue");
  OrderedJson& content = messages.back()["content"];
  if (content.is_string()) return content.get_ref<std::string&>();
  if (content.is_array())
    for (auto part = content.rbegin(); part != content.rend(); ++part)
      if (part->is_object() && part->contains("text") && (*part)["text"].is_string()) return (*part)["text"].get_ref<std::string&>();
  invalid("chat template: the final message has no text to continue");
}

std::string cut_at_mark(std::string text) {
  const std::string_view mark = strip(kMark);
  const size_t at = text.rfind(mark);
  if (at == text.npos) invalid("chat template: the final message cannot be continued, since the template does not show it");
  const bool is_trimmed = text.compare(at, kMark.size(), kMark) != 0;
  text.resize(at);
  if (is_trimmed) text.resize(strip(text, {.left = false}).size());
  return text;
}

}  // namespace

ChatTemplate::ChatTemplate(std::string_view source, SpecialTokens special_tokens) : special_tokens_(std::move(special_tokens)) {
  templates_.emplace_back("default", Template::parse(source, "chat template"));
}

ChatTemplate::ChatTemplate(const std::vector<NamedSource>& sources, SpecialTokens special_tokens)
    : special_tokens_(std::move(special_tokens)) {
  if (sources.empty()) invalid("the model has no chat template");
  for (const auto& [name, source] : sources)
    templates_.emplace_back(
        name, Template::parse(source, sources.size() == 1 ? "chat template" : fmt::format("chat template '{}'", printable(name))));
}

std::vector<ChatTemplate::NamedSource> ChatTemplate::sources_from_json(const Json& chat_template, std::string_view where) {
  if (chat_template.is_string()) return {{"default", chat_template.get<std::string>()}};
  if (!chat_template.is_array()) invalid("{}: chat_template is {}, wanted a string or an array", where, chat_template.type_name());
  std::vector<NamedSource> sources;
  for (const Json& entry : chat_template)
    sources.emplace_back(require<std::string>(entry, "name", where), require<std::string>(entry, "template", where));
  return sources;
}

const Template& ChatTemplate::pick(std::string_view name, bool has_tools) const {
  const auto find = [&](std::string_view wanted) -> const Template* {
    const auto at = std::find_if(templates_.begin(), templates_.end(), [&](const auto& t) { return t.first == wanted; });
    return at == templates_.end() ? nullptr : &at->second;
  };
  std::string names;
  for (const auto& [other, source] : templates_) names += (names.empty() ? "" : ", ") + printable(other);
  if (!name.empty()) {
    if (const Template* named = find(name)) return *named;
    fail(ErrorCode::kNotFound, "there is no chat template '{}'; there are: {}", printable(name), names);
  }
  if (has_tools)
    if (const Template* with_tools = find("tool_use")) return *with_tools;
  if (const Template* plain = find("default")) return *plain;
  if (templates_.size() == 1) return templates_[0].second;
  fail(ErrorCode::kNotFound, "the model has no default chat template: name one of {}", names);
}

std::string ChatTemplate::render(const Conversation& conversation, const RenderOptions& options, std::string_view name) const {
  if (conversation.continue_final_message && conversation.add_generation_prompt)
    invalid("chat template: a conversation cannot both continue its final message and begin a new one");
  OrderedJson context = OrderedJson::object();
  for (const auto& [token, text] : special_tokens_) context[token] = text;
  if (conversation.variables) {
    if (!conversation.variables->is_object())
      invalid("chat template: the variables are {}, wanted an object", conversation.variables->type_name());
    for (const auto& [key, value] : conversation.variables->items()) context[key] = value;
  }
  OrderedJson messages = array_or_null(conversation.messages, "messages");
  if (messages.is_null()) invalid("chat template: there are no messages");
  if (conversation.continue_final_message) final_text(messages) += kMark;
  context["messages"] = std::move(messages);
  context["tools"] = array_or_null(conversation.tools, "tools");
  context["documents"] = array_or_null(conversation.documents, "documents");
  context["add_generation_prompt"] = conversation.add_generation_prompt;
  std::string text = pick(name, !context["tools"].is_null()).render(context, options);
  return conversation.continue_final_message ? cut_at_mark(std::move(text)) : text;
}

}  // namespace headrace::jinja
