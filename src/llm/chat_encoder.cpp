#include <algorithm>
#include <array>
#include <functional>

#include "core/error.h"
#include "headrace/chat_template.h"
#include "jinja/chat_template.h"
#include "llm/messages.h"

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

}  // namespace

struct ChatEncoder::Impl {
  std::shared_ptr<const Tokenizer> tokenizer;
  std::shared_ptr<const ChatTemplate> chat_template;
  std::vector<std::string> controls;       // how control tokens are spelled, longest first
  std::array<bool, 256> begins_control{};  // by first byte

  std::string shield(std::string_view text) const;
  std::vector<int32_t> encode_shielded(std::string_view rendered) const;
};

ChatEncoder::ChatEncoder(std::shared_ptr<const Tokenizer> tokenizer, std::shared_ptr<const ChatTemplate> chat_template) {
  if (!tokenizer || !chat_template) invalid("ChatEncoder: a tokenizer and a chat template are needed");
  auto impl = std::make_unique<Impl>();
  for (int32_t id = 0; id < tokenizer->vocab_size(); ++id)
    if (tokenizer->is_special(id) && !tokenizer->token_text(id).empty()) impl->controls.emplace_back(tokenizer->token_text(id));
  for (const std::string& c : impl->controls) impl->begins_control[uint8_t(c[0])] = true;
  std::ranges::sort(impl->controls, [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
  impl->tokenizer = std::move(tokenizer);
  impl->chat_template = std::move(chat_template);
  impl_ = std::move(impl);
}

ChatEncoder::~ChatEncoder() = default;
ChatEncoder::ChatEncoder(ChatEncoder&&) noexcept = default;
ChatEncoder& ChatEncoder::operator=(ChatEncoder&&) noexcept = default;

std::vector<int32_t> ChatEncoder::encode(std::span<const Message> messages, const RenderChatOptions& options) const {
  return encode_json(to_json(messages), options);
}

std::vector<int32_t> ChatEncoder::encode(std::initializer_list<Message> messages, const RenderChatOptions& options) const {
  return encode(std::span(messages.begin(), messages.size()), options);
}

std::vector<int32_t> ChatEncoder::encode_json(std::string_view messages, const RenderChatOptions& options) const {
  ChatMessages parsed = parse_messages(messages, options);
  for (OrderedJson* part : {&parsed.messages, &parsed.tools, &parsed.documents, &parsed.variables})
    change_strings(*part, [&](const std::string& s) { return impl_->shield(without_marks(s)); });
  return impl_->encode_shielded(render_messages(impl_->chat_template->parsed(), parsed, options));
}

std::string ChatEncoder::Impl::shield(std::string_view text) const {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    if (!begins_control[uint8_t(text[i])]) {
      result += text[i++];
      continue;
    }
    const auto control = std::ranges::find_if(controls, [&](const std::string& c) { return text.substr(i, c.size()) == c; });
    if (control == controls.end()) {
      result += text[i++];
    } else {
      result.append(kOpen).append(*control).append(kClose);
      i += control->size();
    }
  }
  return result;
}

// Between an opening and a closing mark stand spellings of control tokens that people wrote; elsewhere the template's text and theirs.
std::vector<int32_t> ChatEncoder::Impl::encode_shielded(std::string_view rendered) const {
  std::vector<int32_t> ids;
  for (bool trusted = true;;) {
    const size_t end = find_mark(rendered);
    const std::vector<int32_t> part = tokenizer->encode(rendered.substr(0, end), {.add_special = false, .parse_special = trusted});
    ids.insert(ids.end(), part.begin(), part.end());
    if (end == rendered.size()) return ids;
    trusted = rendered.substr(end, kOpen.size()) == kClose;
    rendered.remove_prefix(end + kOpen.size());
  }
}

}  // namespace headrace
