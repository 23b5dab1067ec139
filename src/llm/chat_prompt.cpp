#include "llm/chat_prompt.h"

#include <algorithm>

#include "core/json.h"
#include "core/utf8.h"

namespace headrace {
namespace {

// U+FDD0 and U+FDD1, noncharacters, which text for interchange does not hold: they stand before and after what must not be a control
// token. Two, so that a template which cuts a text apart and leaves one alone cannot turn inside and outside around.
constexpr std::string_view kOpen = "\xEF\xB7\x90", kClose = "\xEF\xB7\x91";
constexpr std::string_view kMarkBegin = kOpen.substr(0, 2);  // what both begin with

// Every string inside, at any depth, through `change`.
void change_strings(OrderedJson& root, const std::function<std::string(const std::string&)>& change) {
  std::vector<OrderedJson*> left = {&root};
  while (!left.empty()) {
    OrderedJson& value = *left.back();
    left.pop_back();
    if (value.is_string()) value = change(value.get<std::string>());
    if (value.is_structured())
      for (OrderedJson& child : value) left.push_back(&child);
  }
}

// Where the next mark is; the end when there is none.
size_t find_mark(std::string_view text) {
  for (size_t at = text.find(kMarkBegin); at != text.npos; at = text.find(kMarkBegin, at + 1))
    if (const std::string_view mark = text.substr(at, kOpen.size()); mark == kOpen || mark == kClose) return at;
  return text.size();
}

std::string without_marks(std::string_view text) {
  std::string result;
  for (;;) {
    const size_t end = find_mark(text);
    result += text.substr(0, end);
    if (end == text.size()) return result;
    text.remove_prefix(end + kOpen.size());
  }
}

void check_utf8(const std::string& text, const std::string& where) {
  for (size_t at = 0; at < text.size();) {
    const Utf8 c = decode_utf8(text, at);
    if (!c.valid) invalid("{}: the text is not valid UTF-8: byte 0x{:02x} at offset {}", where, uint8_t(text[at]), at);
    at += size_t(c.length);
  }
}

}  // namespace

ChatPrompter::ChatPrompter(std::shared_ptr<const Tokenizer> tokenizer, std::shared_ptr<const jinja::ChatTemplate> chat_template)
    : tokenizer_(std::move(tokenizer)), template_(std::move(chat_template)) {
  if (!template_) return;
  for (int32_t id = 0; id < tokenizer_->vocab_size(); ++id)
    if (tokenizer_->is_special(id) && !tokenizer_->token_text(id).empty()) controls_.emplace_back(tokenizer_->token_text(id));
  for (const std::string& c : controls_) begins_control_[uint8_t(c[0])] = true;
  std::ranges::sort(controls_, [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
}

std::string ChatPrompter::to_json(std::span<const Message> messages) {
  OrderedJson json = OrderedJson::array();
  for (size_t i = 0; i < messages.size(); ++i) {
    check_utf8(messages[i].role, fmt::format("message {}: role", i));
    check_utf8(messages[i].content, fmt::format("message {} ({})", i, printable(messages[i].role)));
  }
  for (const Message& message : messages) json.push_back({{"role", message.role}, {"content", message.content}});
  return json.dump();
}

std::vector<int32_t> ChatPrompter::encode(std::string_view messages, std::string_view tools) const {
  if (!template_) fail(ErrorCode::kUnsupported, "chat: this model has no chat template. Use a model tuned for chat, or give it plain text");
  const auto parse = [&](std::string_view text, std::string_view where) {
    OrderedJson json = parse_ordered_json(text, where);
    if (!json.is_array()) invalid("{}: wanted a JSON array, found {}", where, json.type_name());
    change_strings(json, [&](const std::string& s) { return shield(without_marks(s)); });
    return json;
  };
  const OrderedJson conversation = parse(messages, "chat messages");
  const OrderedJson functions = tools.empty() ? OrderedJson() : parse(tools, "chat tools");
  return encode_shielded(
      template_->render({.messages = &conversation, .tools = tools.empty() ? nullptr : &functions, .add_generation_prompt = true}));
}

std::string ChatPrompter::shield(std::string_view text) const {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    if (!begins_control_[uint8_t(text[i])]) {
      result += text[i++];
      continue;
    }
    const auto control = std::ranges::find_if(controls_, [&](const std::string& c) { return text.substr(i, c.size()) == c; });
    if (control == controls_.end()) {
      result += text[i++];
    } else {
      result.append(kOpen).append(*control).append(kClose);
      i += control->size();
    }
  }
  return result;
}

// Between an opening and a closing mark stand spellings of control tokens that people wrote; elsewhere the template's text and theirs.
std::vector<int32_t> ChatPrompter::encode_shielded(std::string_view rendered) const {
  std::vector<int32_t> ids;
  for (bool trusted = true;;) {
    const size_t end = find_mark(rendered);
    const std::vector<int32_t> part = tokenizer_->encode(rendered.substr(0, end), {.add_special = false, .parse_special = trusted});
    ids.insert(ids.end(), part.begin(), part.end());
    if (end == rendered.size()) return ids;
    trusted = rendered.substr(end, kOpen.size()) == kClose;
    rendered.remove_prefix(end + kOpen.size());
  }
}

}  // namespace headrace
