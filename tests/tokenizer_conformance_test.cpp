// Real vocabularies with the ids and texts that their own libraries give: ../shared/conformance/tokenizers, and the checkpoints of
// ../shared/golden and ../shared/models.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "api/text_loader.h"
#include "core/json.h"
#include "core/utf8.h"
#include "headrace/tokenizer.h"
#include "test_data.h"

namespace headrace {
namespace {

namespace fs = std::filesystem;
using Ids = std::vector<int32_t>;

std::vector<fs::path> folders_of(const std::string& parent, const char* file) {
  std::vector<fs::path> folders;
  if (!fs::is_directory(parent)) return folders;
  for (const auto& entry : fs::directory_iterator(parent))
    if (fs::exists(entry.path() / file)) folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  return folders;
}

std::shared_ptr<const Tokenizer> load(const fs::path& folder) { return make_tokenizer(read_text_files(folder.string())); }

std::string streamed(const std::shared_ptr<const Tokenizer>& tokenizer, const Ids& ids) {
  Detokenizer stream(tokenizer);
  std::string text;
  for (const int32_t id : ids) text += stream.push(id);
  return text + stream.flush();
}

bool is_lossless(const fs::path& folder) { return folder.filename().string().find("bert") == std::string::npos; }

TEST(TokenizerConformance, EveryRealVocabularyGivesTheIdsAndTheText) {
  HEADRACE_NEED_SHARED_DATA();
  int count = 0;
  for (const fs::path& folder : folders_of(shared_data() + "/conformance/tokenizers", "cases.jsonl")) {
    const auto tokenizer = load(folder);
    std::ifstream cases(folder / "cases.jsonl");
    for (std::string line; std::getline(cases, line); ++count) {
      const Json json = parse_json(line, "cases.jsonl");
      const auto text = require<std::string>(json, "text", "cases.jsonl");
      const auto ids = require<Ids>(json, "ids", "cases.jsonl");
      EXPECT_EQ(tokenizer->encode(text, {.add_special = false}), ids) << folder << ": " << printable(text, 200);
      EXPECT_EQ(streamed(tokenizer, ids), replace_invalid_utf8(tokenizer->decode(ids))) << folder << ": " << printable(text, 200);
      if (is_lossless(folder)) {
        EXPECT_EQ(tokenizer->decode(ids), text) << folder;
      }
    }
  }
  EXPECT_GT(count, 1000);
}

TEST(TokenizerConformance, GoldenPromptsAndAnswers) {
  HEADRACE_NEED_SHARED_DATA();
  int texts = 0;
  for (const fs::path& folder : folders_of(shared_data() + "/golden", "tokenizer.json")) {
    const auto tokenizer = load(folder);
    const Json expected = read_json_file((folder / "expected.json").string());
    for (const Json& prompt : expected.value("prompts", Json::array())) {
      const auto prompt_ids = headrace::find<Ids>(prompt, "ids", "expected.json");
      if (!prompt_ids) continue;  // an encoder-decoder's
      if (const auto text = headrace::find<std::string>(prompt, "text", "expected.json")) {
        EXPECT_EQ(tokenizer->encode(*text, {.add_special = false}), *prompt_ids) << folder << *text;
        ++texts;
      }
      if (const auto text = headrace::find<std::string>(prompt, "greedy_text", "expected.json")) {
        const Ids ids = require<Ids>(prompt["greedy"], "ids", "expected.json");
        EXPECT_EQ(streamed(tokenizer, ids), *text) << folder;
        ++texts;
      }
    }
  }
  EXPECT_GT(texts, 100);
}

TEST(TokenizerConformance, Stories260k) {
  HEADRACE_NEED_SHARED_DATA();
  const fs::path folder = shared_data() + "/models/stories260k";
  const auto tokenizer = load(folder);
  const Json expected = read_json_file((folder / "expected.json").string());
  ASSERT_FALSE(expected.at("tokenizer_cases").empty());
  for (const Json& json : expected.at("tokenizer_cases")) {
    const auto text = require<std::string>(json, "text", "expected.json");
    EXPECT_EQ(tokenizer->encode(text, {.add_special = false}), require<Ids>(json, "ids", "expected.json")) << text;
  }
}

}  // namespace
}  // namespace headrace
