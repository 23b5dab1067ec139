// Published chat templates and features of the template language, as Hugging Face renders them.
#include <gtest/gtest.h>

#include <fstream>

#include "core/json.h"
#include "jinja/chat_template.h"
#include "jinja/strftime.h"
#include "test_data.h"

namespace headrace::jinja {
namespace {

void expect_all_render(const std::string& path) {
  std::ifstream in(path);
  ASSERT_TRUE(in) << path;
  int num_cases = 0;
  for (std::string line; std::getline(in, line); ++num_cases) {
    const OrderedJson test = parse_ordered_json(line, path);
    RenderOptions options;
    if (test.contains("now")) options.now = parse_time(test["now"].get<std::string>());
    const Template parsed = Template::parse(test["template"].get<std::string>(), test["name"].get<std::string>());
    EXPECT_EQ(parsed.render(test["context"], options), test["expected"].get<std::string>()) << test["name"];
  }
  EXPECT_GT(num_cases, 0);
}

TEST(TemplateConformance, FeaturesOfTheLanguage) {
  HEADRACE_NEED_SHARED_DATA();
  expect_all_render(shared_data() + "/conformance/chat_templates/syntax.jsonl");
}

TEST(TemplateConformance, TemplatesOfPublishedModels) {
  HEADRACE_NEED_SHARED_DATA();
  expect_all_render(shared_data() + "/conformance/chat_templates/models.jsonl");
}

TEST(TemplateConformance, GoldenModelsRenderTheirConversation) {
  HEADRACE_NEED_SHARED_DATA();
  for (const char* model : {"llama", "llama_gqa", "qwen3", "gemma2"}) {
    const std::string folder = shared_data() + "/golden/" + model;
    const Json config = read_json_file(folder + "/tokenizer_config.json");
    ChatTemplate::SpecialTokens tokens;
    for (const char* name : {"bos_token", "eos_token"})
      if (const auto token = headrace::find<std::string>(config, name, folder)) tokens.emplace_back(name, *token);
    const ChatTemplate chat(ChatTemplate::sources_from_json(config.at("chat_template"), folder), tokens);
    const Json expected = read_json_file(folder + "/expected.json").at("chat");
    const OrderedJson messages = expected.at("messages");
    const Conversation conversation{.messages = &messages, .add_generation_prompt = expected.at("add_generation_prompt").get<bool>()};
    EXPECT_EQ(chat.render(conversation), expected.at("rendered").get<std::string>()) << model;
  }
}

}  // namespace
}  // namespace headrace::jinja
