#include "jinja/chat_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json.h"
#include "core/test_support.h"

namespace headrace::jinja {
namespace {

using testing::HasSubstr;

OrderedJson json(std::string_view text) { return parse_ordered_json(text, "test"); }

constexpr const char* kPlain =
    "{% for m in messages %}[{{ m.role }}]{{ m.content }}{{ eos_token }}{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}";
constexpr const char* kTrimming = "{% for m in messages %}[{{ m.role }}]{{ m.content | trim }}{{ eos_token }}{% endfor %}";

TEST(ChatTemplate, RendersMessagesWithSpecialTokensAndPrompt) {
  const OrderedJson messages = json(R"([{"role": "user", "content": "Hi"}])");
  const ChatTemplate chat(kPlain, {{"eos_token", "</s>"}});
  EXPECT_EQ(chat.render({.messages = &messages, .add_generation_prompt = true}), "[user]Hi</s>[assistant]");
  EXPECT_EQ(chat.render({.messages = &messages}), "[user]Hi</s>");
}

TEST(ChatTemplate, PassesNoneForToolsAndDocumentsThatAreAbsent) {
  const OrderedJson messages = json("[]");
  const ChatTemplate chat("{{ tools is defined }} {{ tools is none }} {{ documents is none }} {{ bos_token is defined }}", {});
  EXPECT_EQ(chat.render({.messages = &messages}), "True True True False");
}

TEST(ChatTemplate, PassesContentThatIsAListOfPartsAsItIs) {
  const OrderedJson messages = json(R"([{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image"}]}])");
  const ChatTemplate chat("{% for p in messages[0].content %}{{ p.type }}{% if p.text %}:{{ p.text }}{% endif %};{% endfor %}", {});
  EXPECT_EQ(chat.render({.messages = &messages}), "text:a;image;");
}

TEST(ChatTemplate, VariablesOverrideSpecialTokens) {
  const OrderedJson messages = json("[]"), variables = json(R"({"bos_token": "<x>", "enable_thinking": false})");
  const ChatTemplate chat("{{ bos_token }}{{ enable_thinking }}", {{"bos_token", "<s>"}});
  EXPECT_EQ(chat.render({.messages = &messages, .variables = &variables}), "<x>False");
}

TEST(ChatTemplate, PicksByNameByToolsAndByDefault) {
  const OrderedJson messages = json("[]"), tools = json("[{}]");
  const ChatTemplate chat({{"default", "D"}, {"tool_use", "T"}, {"rag", "R"}}, {});
  EXPECT_EQ(chat.render({.messages = &messages}), "D");
  EXPECT_EQ(chat.render({.messages = &messages, .tools = &tools}), "T");
  EXPECT_EQ(chat.render({.messages = &messages}, {}, "rag"), "R");
  EXPECT_THAT(test::error_of([&] { chat.render({.messages = &messages}, {}, "other"); }), HasSubstr("default, tool_use, rag"));
  const ChatTemplate only_tools({{"tool_use", "T"}, {"rag", "R"}}, {});
  EXPECT_THAT(test::error_of([&] { only_tools.render({.messages = &messages}); }), HasSubstr("no default chat template"));
}

TEST(ChatTemplate, ReadsBothFormsOfTokenizerConfig) {
  EXPECT_EQ(ChatTemplate::sources_from_json(Json("x"), "f"), (std::vector<ChatTemplate::NamedSource>{{"default", "x"}}));
  const Json several = parse_json(R"([{"name": "rag", "template": "y"}])", "test");
  EXPECT_EQ(ChatTemplate::sources_from_json(several, "f"), (std::vector<ChatTemplate::NamedSource>{{"rag", "y"}}));
  EXPECT_THROW(ChatTemplate::sources_from_json(Json(3), "f"), Error);
}

TEST(ChatTemplate, ContinuesTheFinalMessage) {
  const OrderedJson messages = json(R"([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "I think "}])");
  const ChatTemplate plain(kPlain, {{"eos_token", "</s>"}}), trimming(kTrimming, {{"eos_token", "</s>"}});
  EXPECT_EQ(plain.render({.messages = &messages, .continue_final_message = true}), "[user]Hi</s>[assistant]I think ");
  EXPECT_EQ(trimming.render({.messages = &messages, .continue_final_message = true}), "[user]Hi</s>[assistant]I think");
  const OrderedJson parts = json(R"([{"role": "assistant", "content": [{"type": "text", "text": "So"}, {"type": "image"}]}])");
  const ChatTemplate of_parts("{% for p in messages[-1].content %}{{ p.text }}{% endfor %}</s>", {});
  EXPECT_EQ(of_parts.render({.messages = &parts, .continue_final_message = true}), "So");
}

TEST(ChatTemplate, RefusesToContinueWhatItCannot) {
  const OrderedJson messages = json(R"([{"role": "user", "content": "Hi"}])"), none = json("[]");
  const ChatTemplate hiding("nothing", {}), plain(kPlain, {});
  EXPECT_THAT(test::error_of([&] { hiding.render({.messages = &messages, .continue_final_message = true}); }),
              HasSubstr("does not show it"));
  EXPECT_THAT(test::error_of([&] { plain.render({.messages = &none, .continue_final_message = true}); }), HasSubstr("no final message"));
  EXPECT_THROW(plain.render({.messages = &messages, .add_generation_prompt = true, .continue_final_message = true}), Error);
}

TEST(ChatTemplate, PassesTheTemplatesOwnWordsOn) {
  const OrderedJson messages = json("[]");
  const ChatTemplate chat("\n\n{{ raise_exception('Roles must alternate!') }}", {});
  try {
    chat.render({.messages = &messages});
    FAIL();
  } catch (const TemplateError& error) {
    EXPECT_EQ(error.line, 3);
    EXPECT_EQ(error.message, "Roles must alternate!");
    EXPECT_STREQ(error.what(), "chat template, line 3: Roles must alternate!");
  }
}

TEST(ChatTemplate, RefusesAConversationOfTheWrongForm) {
  const ChatTemplate chat(kPlain, {});
  const OrderedJson object = json("{}");
  EXPECT_THAT(test::error_of([&] { chat.render({.messages = &object}); }), HasSubstr("messages is object, wanted an array"));
  EXPECT_THAT(test::error_of([&] { chat.render({}); }), HasSubstr("no messages"));
}

}  // namespace
}  // namespace headrace::jinja
