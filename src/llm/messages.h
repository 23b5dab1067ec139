// A conversation between its text, as the public types carry it, and the JSON that templates read.
#pragma once

#include "core/json.h"
#include "headrace/chat_template.h"

namespace headrace {

struct ChatMessages {
  OrderedJson messages;
  OrderedJson tools, documents, variables;  // null when there are none
};

// Throws Error for what is no JSON, or no array where one is wanted.
ChatMessages parse_messages(std::string_view messages, const RenderChatOptions& options);
// Throws Error where a message is not valid UTF-8.
std::string to_json(std::span<const Message> messages);

std::string render_messages(const jinja::ChatTemplate& parsed, const ChatMessages& messages, const RenderChatOptions& options);

}  // namespace headrace
