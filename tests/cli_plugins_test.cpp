// Plugins on the command line.
#include <gmock/gmock.h>

#include "program.h"

namespace headrace {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string kModel = HEADRACE_SOURCE_DIR "/tests/data/golden/llama";
std::string library(const std::string& name) { return HEADRACE_PLUGIN_FOLDER "/" + name + ".so"; }

// The environment for the time of a test.
class WithPlugins {
 public:
  explicit WithPlugins(const std::string& paths) { setenv("HEADRACE_PLUGINS", paths.c_str(), 1); }
  ~WithPlugins() { unsetenv("HEADRACE_PLUGINS"); }
};

TEST(PluginOptions, InspectShowsWhatWasLoadedAndWhatTheProgramNeeds) {
  const Json plain = headrace({"inspect", kModel, "--json"}).json();
  EXPECT_EQ(plain.at("plugins"), Json::array());
  EXPECT_FALSE(plain.contains("loaded_plugins"));
  const Outcome o = headrace({"inspect", kModel, "--json", "--plugin", library("quantize_tensor"), "--plugin", library("smooth_quant")});
  EXPECT_EQ(o.json().at("plugins"), Json({"quantize_tensor", "smooth_quant"}));
  EXPECT_THAT(o.json().at("loaded_plugins").at("smooth_quant").get<std::string>(),
              AllOf(HasSubstr("1.0, " + library("smooth_quant")), HasSubstr("ops smooth_quant_gemm"), HasSubstr("passes smooth-quant")));
  EXPECT_THAT(headrace({"inspect", kModel, "--plugin", library("no_repeat_ngram")}).out, HasSubstr("logits processors no_repeat_ngram"));
}

TEST(PluginOptions, TheEnvironmentNamesPluginsToo) {
  const WithPlugins environment(library("quantize_tensor") + "::" + library("smooth_quant") + ":");
  EXPECT_EQ(headrace({"inspect", kModel, "--json"}).json().at("plugins"), Json({"quantize_tensor", "smooth_quant"}));
}

TEST(PluginOptions, AnEngineThatNeedsPluginsSaysSoAndRunsWithThem) {
  const TempFolder folder;
  const std::string engine = folder / "w8a8.engine";
  const std::vector<std::string> with = {"--plugin", library("quantize_tensor"), "--plugin", library("smooth_quant")};
  const auto command = [&](std::vector<std::string> words) {
    words.insert(words.end(), with.begin(), with.end());
    return words;
  };
  ASSERT_EQ(headrace(command({"build", kModel, "-o", engine})).code, 0);
  const Outcome without = headrace({"run", engine, "--prompt-ids", "338", "-n", "3"});
  EXPECT_EQ(without.code, 1);
  EXPECT_THAT(without.err,
              AllOf(HasSubstr(engine), HasSubstr("needs the plugins quantize_tensor, smooth_quant"), HasSubstr("--plugin FILE")));
  EXPECT_EQ(headrace(command({"run", engine, "--prompt-ids", "338", "-n", "3"})).code, 0);
  EXPECT_EQ(headrace({"tokenize", engine, "-p", "water"}).out, "1,338\n") << "text needs no plugin";
}

TEST(PluginOptions, ALogitsProcessorIsChosenByName) {
  const auto ids = [](const std::string& processor) {
    const Outcome o = headrace({"run", kModel, "--prompt-ids", "338,5,338,5", "-n", "40", "--ignore-eos", "--json", "--plugin",
                                library("no_repeat_ngram"), "--logits-processor", processor});
    EXPECT_EQ(o.code, 0) << o.err;
    return o.json().at("token_ids").get<std::vector<int>>();
  };
  const std::vector<int> one = ids("no_repeat_ngram={\"size\": 1}");
  for (size_t i = 0; i < one.size(); ++i) EXPECT_EQ(std::count(one.begin(), one.end(), one[i]), 1);
  const Outcome bad = headrace({"run", kModel, "-p", "x", "--plugin", library("no_repeat_ngram"), "--logits-processor", "no_repeat_ngram"});
  EXPECT_EQ(bad.code, 1);
  EXPECT_THAT(bad.err, HasSubstr("options must be"));
  EXPECT_EQ(headrace({"run", kModel, "-p", "x", "--logits-processor", "=1"}).code, 2);
  EXPECT_THAT(headrace({"run", kModel, "-p", "x", "--logits-processor", "none_such"}).err,
              HasSubstr("there is no logits processor 'none_such'"));
}

TEST(PluginOptions, WhatIsNoPluginIsNamed) {
  const Outcome missing = headrace({"run", kModel, "-p", "x", "--plugin", "/no/such.so"});
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.err, AllOf(HasSubstr("plugin /no/such.so: there is no such file"), Not(HasSubstr("\n\n"))));
  EXPECT_THAT(headrace({"bench", kModel, "--plugin", kModel + "/config.json"}).err, HasSubstr("cannot be loaded as a shared library"));
}

}  // namespace
}  // namespace headrace
