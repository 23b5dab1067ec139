#include "headrace/chat_template.h"

#include "core/json.h"
#include "core/utf8.h"
#include "jinja/chat_template.h"
#include "llm/messages.h"

namespace headrace {
namespace {

void check_utf8(const std::string& text, const std::string& where) {
  for (size_t at = 0; at < text.size();) {
    const Utf8 c = decode_utf8(text, at);
    if (!c.valid) invalid("{}: the text is not valid UTF-8: byte 0x{:02x} at offset {}", where, uint8_t(text[at]), at);
    at += size_t(c.length);
  }
}

OrderedJson parse_array(std::string_view text, std::string_view where) {
  OrderedJson json = parse_ordered_json(text, where);
  if (!json.is_array()) invalid("{}: wanted a JSON array, found {}", where, json.type_name());
  return json;
}

}  // namespace

ChatMessages parse_messages(std::string_view messages, const RenderChatOptions& options) {
  ChatMessages parsed{.messages = parse_array(messages, "chat messages")};
  if (!options.tools.empty()) parsed.tools = parse_array(options.tools, "chat tools");
  if (!options.documents.empty()) parsed.documents = parse_array(options.documents, "chat documents");
  if (!options.variables.empty()) parsed.variables = parse_ordered_json(options.variables, "chat template variables");
  return parsed;
}

std::string to_json(std::span<const Message> messages) {
  OrderedJson json = OrderedJson::array();
  for (size_t i = 0; i < messages.size(); ++i) {
    check_utf8(messages[i].role, fmt::format("message {}: role", i));
    check_utf8(messages[i].content, fmt::format("message {} ({})", i, printable(messages[i].role)));
  }
  for (const Message& message : messages) json.push_back({{"role", message.role}, {"content", message.content}});
  return json.dump();
}

ChatTemplate::ChatTemplate(std::string_view source, SpecialTokens special_tokens)
    : parsed_(std::make_unique<const jinja::ChatTemplate>(source, std::move(special_tokens))) {}
ChatTemplate::ChatTemplate(std::unique_ptr<const jinja::ChatTemplate> parsed) : parsed_(std::move(parsed)) {}
ChatTemplate::~ChatTemplate() = default;
ChatTemplate::ChatTemplate(ChatTemplate&&) noexcept = default;
ChatTemplate& ChatTemplate::operator=(ChatTemplate&&) noexcept = default;

std::string ChatTemplate::render(std::span<const Message> messages, const RenderChatOptions& options) const {
  return render_json(to_json(messages), options);
}

std::string ChatTemplate::render(std::initializer_list<Message> messages, const RenderChatOptions& options) const {
  return render(std::span(messages.begin(), messages.size()), options);
}

std::string ChatTemplate::render_json(std::string_view messages, const RenderChatOptions& options) const {
  return render_messages(*parsed_, parse_messages(messages, options), options);
}

std::string render_messages(const jinja::ChatTemplate& parsed, const ChatMessages& messages, const RenderChatOptions& options) {
  const auto or_null = [](const OrderedJson& json) { return json.is_null() ? nullptr : &json; };
  return parsed.render({.messages = &messages.messages,
                        .tools = or_null(messages.tools),
                        .documents = or_null(messages.documents),
                        .variables = or_null(messages.variables),
                        .add_generation_prompt = options.add_generation_prompt,
                        .continue_final_message = options.continue_final_message},
                       {.now = options.now}, options.name);
}

}  // namespace headrace
