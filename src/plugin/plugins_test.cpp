// Loading, and plugins that do what they must not. tests/plugins has their sources; tests/worked_plugins_test.cpp uses good ones.
#include <gmock/gmock.h>

#include "core/test_support.h"
#include "headrace/build.h"
#include "headrace/functional.h"
#include "headrace/session.h"
#include "plugin/parts.h"

namespace headrace {
namespace {

using test::error_of;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string library(const std::string& name) { return HEADRACE_PLUGIN_FOLDER "/" + name + ".so"; }
std::shared_ptr<const Plugins> load(const std::string& name) { return Plugins::load({library(name)}); }

HostTensor floats(const std::vector<float>& values) {
  return HostTensor(DType::kF32, {int64_t(values.size())}, std::span<const float>(values));
}
std::vector<float> values_of(const HostTensor& t) { return {t.as<float>(), t.as<float>() + t.view().numel()}; }

Graph parse(const Plugins& plugins, const std::string& body) { return Graph::parse("graph g {\n" + body + "\n}", plugins.ops()); }

// ---------------------------------------------------------------------------------------------------------------- loading

TEST(Plugins, AreListedWithAllThatTheyHave) {
  const auto plugins = load("misbehaves");
  ASSERT_EQ(plugins->list().size(), 1u);
  const PluginInfo& info = plugins->list()[0];
  EXPECT_EQ(info.name, "misbehaves") << "the file's name, for it gives none";
  EXPECT_EQ(info.version, "");
  EXPECT_EQ(info.path, library("misbehaves"));
  EXPECT_THAT(info.ops, ElementsAre("anyhow", "levelled", "careful"));
  EXPECT_THAT(info.kernels, ElementsAre("levelled/fails_at_13 cpu", "careful/fails_to_be_made cpu"));
  EXPECT_THAT(info.passes, ElementsAre("anything"));
  EXPECT_THAT(info.logits_processors, ElementsAre("whims"));
  EXPECT_THAT(info.weight_formats, ElementsAre("strange"));
  EXPECT_EQ(load("own_model")->list()[0].version, "0.3");
  EXPECT_TRUE(Plugins::load({})->list().empty());
}

TEST(Plugins, ThatCannotBeLoadedSayWhy) {
  const auto error = [](const std::string& name) { return error_of([&] { load("load_" + name); }); };
  EXPECT_THAT(error("other_abi"),
              AllOf(HasSubstr("load_other_abi.so"), HasSubstr("version 42 of the plugin interface"), HasSubstr("has version 1")));
  EXPECT_THAT(error("no_init"), AllOf(HasSubstr("load_no_init.so"), HasSubstr("does not export headrace_plugin_init")));
  EXPECT_THAT(error("undefined_symbol"), AllOf(HasSubstr("load_undefined_symbol.so"), HasSubstr("there_is_no_such_function")));
  EXPECT_THAT(error("refuses"), AllOf(HasSubstr("plugin 'load_refuses'"), HasSubstr("the moon is not full")));
  EXPECT_THAT(error("throws"), AllOf(HasSubstr("plugin 'load_throws'"), HasSubstr("somewhere inside")));
  EXPECT_THAT(error("throws_raw"), AllOf(HasSubstr("an exception left a callback"), HasSubstr("nobody caught this")));
  EXPECT_THAT(error("taken_op"), HasSubstr("op 'relu' is already registered"));
  EXPECT_THAT(error("taken_kernel"), HasSubstr("kernel 'relu/mine cpu' is already registered"));
  EXPECT_THAT(error("lost_kernel"), HasSubstr("there is no op 'there_is_no_such_op'"));
  EXPECT_THAT(error("bad_field"), AllOf(HasSubstr("attribute 'eps': its default"), HasSubstr("'0.5' is not an integer")));
  EXPECT_THAT(error("no_shape_rule"), HasSubstr("op 'shapeless': a shape rule is wanted"));
  EXPECT_THAT(error("small_struct"), HasSubstr("is struct_size set?"));
  EXPECT_THAT(error("there_is_none"), HasSubstr("there is no such file"));
}

TEST(Plugins, OnlySharedLibrariesAreLoaded) {
  const test::TempFolder folder;
  for (const char* bytes : {"", "not a library",
                            "\x7f"
                            "ELF but cut short"}) {
    const std::string path = folder.write("x.so", bytes);
    EXPECT_THAT(error_of([&] { Plugins::load({path}); }), AllOf(HasSubstr(path), HasSubstr("cannot be loaded as a shared library")));
  }
  EXPECT_THAT(error_of([&] { Plugins::load({folder.path()}); }), HasSubstr("cannot be loaded"));
}

TEST(Plugins, AreNotLoadedTwice) {
  EXPECT_THAT(error_of([] { Plugins::load({library("own_model"), library("own_model")}); }), HasSubstr("already registered"));
  const auto first = load("own_model"), second = load("own_model");
  EXPECT_NE(first->ops(), second->ops()) << "but two loads know nothing of each other";
}

// ---------------------------------------------------------------------------------------------------------------- ops

struct Misbehaving : testing::Test {
  std::shared_ptr<const Plugins> plugins = load("misbehaves");
  std::string error_with(const std::string& body) {
    return error_of([&] { parse(*plugins, body); });
  }
  std::string how(const std::string& word) { return error_with("input %x : f32[n]\n %y = anyhow(%x) {how=\"" + word + "\"}\n return %y"); }
};

TEST_F(Misbehaving, AShapeRuleThatGivesNonsenseIsThePluginsError) {
  EXPECT_THAT(how("high_rank"),
              AllOf(HasSubstr("plugin 'misbehaves'"), HasSubstr("the shape rule of op 'anyhow'"), HasSubstr("a rank of 9")));
  EXPECT_THAT(how("no_size"), HasSubstr("without a size for axis 0"));
  EXPECT_THAT(how("no_type"), HasSubstr("99 is no element type"));
  EXPECT_THAT(how("negative"), HasSubstr("a size of -3 for axis 0"));
  EXPECT_THAT(how("silent"), HasSubstr("failed with status 77, and does not say why"));
  EXPECT_EQ(parse(*plugins, "input %x : f32[n]\n %y = anyhow(%x) {how=\"well\"}\n return %y").num_nodes(), 1);
}

TEST_F(Misbehaving, WhatItThrowsIsAnErrorThatNamesIt) {
  EXPECT_THAT(how("raw"),
              AllOf(HasSubstr("plugin 'misbehaves'"), HasSubstr("an exception left a callback"), HasSubstr("nobody caught this")));
  EXPECT_THAT(how("number"), HasSubstr("an exception left a callback"));
  EXPECT_THAT(error_with("input %x : f32[n]\n %y = levelled(%x) {level=10}\n return %y"),
              AllOf(HasSubstr("plugin 'misbehaves'"), HasSubstr("that level is too high")))
      << "caught by plugin.hpp";
}

TEST_F(Misbehaving, OperandsThatAreRefusedAreNamed) { EXPECT_THAT(how("refuses"), HasSubstr("anyhow(f32[n]): not these")); }

TEST_F(Misbehaving, AttributesAreCheckedAgainstWhatWasDeclared) {
  EXPECT_THAT(how("wrong_kind"), HasSubstr("attribute 'how': is a string, and was asked for as an integer"));
  EXPECT_THAT(how("unknown_name"), HasSubstr("attribute 'nowhere': the op has no such attribute"));
  EXPECT_THAT(error_with("input %x : f32[n]\n %y = levelled(%x) {level=\"high\"}\n return %y"), HasSubstr("attribute 'level'"));
  EXPECT_THAT(error_with("input %x : f32[n]\n %y = levelled(%x) {depth=1}\n return %y"), HasSubstr("the op has no such attribute"));
  const Graph graph = parse(*plugins, "input %x : f32[n]\n %y = levelled(%x) {level=2.50}\n %z = levelled(%y) {level=1.0}\n return %z");
  EXPECT_THAT(graph.to_text(), AllOf(HasSubstr("%y = levelled(%x) {level=2.5}"), HasSubstr("%z = levelled(%y) :")));
  EXPECT_EQ(Graph::parse(graph.to_text(), plugins->ops()).to_text(), graph.to_text());
}

// ---------------------------------------------------------------------------------------------------------------- kernels

TEST_F(Misbehaving, AKernelThatFailsFailsOneRun) {
  for (int threads : {1, 2, 3}) {
    Session session(parse(*plugins, "input %x : f32[n]\n %y = levelled(%x)\n return %y"), nullptr,
                    {.num_threads = threads, .plugins = plugins});
    EXPECT_THAT(values_of(session.run({{"x", floats({1, 2, 3, 4})}}).at("y")), ElementsAre(1, 2, 3, 4));
    for (size_t at : {0, 3}) {
      std::vector<float> values = {1, 2, 3, 4};
      values[at] = 13;
      EXPECT_THAT(error_of([&] {
                    session.run({{"x", floats(values)}});
                  }),
                  AllOf(HasSubstr("plugin 'misbehaves'"), HasSubstr("run of kernel 'levelled/fails_at_13 cpu'"),
                        HasSubstr("13 at " + std::to_string(at))))
          << threads;
    }
    EXPECT_THAT(values_of(session.run({{"x", floats({5, 6})}}).at("y")), ElementsAre(5, 6)) << "and the session goes on";
  }
}

TEST_F(Misbehaving, AKernelThatCannotBeMadeIsAnErrorOfLoading) {
  EXPECT_THAT(error_of([&] {
                Session session(parse(*plugins, "input %x : f32[n]\n %y = careful(%x)\n return %y"), nullptr, {.plugins = plugins});
              }),
              AllOf(HasSubstr("make of kernel 'careful/fails_to_be_made cpu'"), HasSubstr("no room for weights")));
}

TEST_F(Misbehaving, WithoutItsKernelsTheReferenceRuns) {
  Session session(parse(*plugins, "input %x : f32[n]\n %y = careful(%x)\n return %y"), nullptr, {});
  EXPECT_THAT(values_of(session.run({{"x", floats({7, 13})}}).at("y")), ElementsAre(7, 13));
}

TEST_F(Misbehaving, OperandsThatAreNotContiguousReachAKernelAsCopies) {
  Session session(parse(*plugins, "input %x : f32[n, 3]\n %t = permute(%x) {axes=[1, 0]}\n %y = levelled(%t)\n return %y"), nullptr,
                  {.num_threads = 2, .plugins = plugins});
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  const HostTensor x(DType::kF32, {2, 3}, std::span<const float>(values));
  EXPECT_THAT(values_of(session.run({{"x", x}}).at("y")), ElementsAre(1, 4, 2, 5, 3, 6));
}

TEST(Plugins, StayAsLongAsAnythingOfThemIsAlive) {
  std::optional<Session> session;
  {
    const auto plugins = load("misbehaves");
    session.emplace(parse(*plugins, "input %x : f32[n]\n %y = levelled(%x)\n return %y"), nullptr,
                    SessionOptions{.num_threads = 1, .plugins = plugins});
  }
  EXPECT_THAT(values_of(session->run({{"x", floats({3})}}).at("y")), ElementsAre(3));
  EXPECT_THAT(session->program().to_text(), HasSubstr("levelled"));
}

// ---------------------------------------------------------------------------------------------------------------- passes

TEST_F(Misbehaving, APassThatBreaksTheGraphIsNamed) {
  const auto error = [&](const std::string& wish) {
    Graph graph = parse(*plugins, "input %x : f32[n]\n input %" + wish + " : f32[1]\n %a = relu(%x)\n %b = silu(%a)\n return %b");
    return error_of([&] { Session session(std::move(graph), nullptr, {.plugins = plugins}); });
  };
  const auto named = AllOf(HasSubstr("pass 'anything'"), Not(HasSubstr("nothing was thrown")));
  EXPECT_THAT(error("please_throw"), AllOf(named, HasSubstr("plugin 'misbehaves'"), HasSubstr("the pass has lost its way")));
  EXPECT_THAT(error("please_read_ahead"), AllOf(named, HasSubstr("it is produced later")));
  EXPECT_THAT(error("please_make_a_circle"), named);
  EXPECT_THAT(error("please_change_types"), AllOf(named, HasSubstr("is f32[n], and is to be replaced by"), HasSubstr("which is i32[n]")));
  EXPECT_THAT(error("please_erase_used"), AllOf(named, HasSubstr("is still in use")));
  EXPECT_THAT(error("please_emit_nonsense"), AllOf(named, HasSubstr("matmul"), HasSubstr("operands")));
  EXPECT_THAT(error("please_emit_unknown"), AllOf(named, HasSubstr("there is no op 'there_is_no_such_op'")));
  EXPECT_THAT(error("please_emit_wrong_attribute"), AllOf(named, HasSubstr("softmax: attribute 'axis'")));
  EXPECT_THAT(error("please_drop_results"), AllOf(named, HasSubstr("operand 7 of relu, which has 1")));
  Session quiet(parse(*plugins, "input %x : f32[n]\n %a = relu(%x)\n return %a"), nullptr, {.plugins = plugins});
  EXPECT_THAT(values_of(quiet.run({{"x", floats({-1, 1})}}).at("a")), ElementsAre(0, 1));
}

TEST_F(Misbehaving, APassCanBeSkippedByName) {
  Graph graph = parse(*plugins, "input %x : f32[n]\n input %please_throw : f32[1]\n %a = relu(%x)\n return %a");
  EXPECT_NO_THROW(Session(std::move(graph), nullptr, {.passes = {.skip_passes = {"anything"}}, .plugins = plugins}));
}

// ---------------------------------------------------------------------------------------------------------------- formats

TEST_F(Misbehaving, AFormatsNonsenseIsAnErrorThatNamesTheFile) {
  const test::TempFolder folder;
  const auto error = [&](const std::string& how) {
    const std::string path = folder.write(how + ".strange", how);
    const std::string message = error_of([&] { build_engine(path, {.plugins = plugins}); });
    EXPECT_THAT(message, HasSubstr(path));
    return message;
  };
  EXPECT_THAT(error("throws"), HasSubstr("the file bites"));
  EXPECT_THAT(error("bad_config"), HasSubstr("configuration"));
  EXPECT_THAT(error("high_rank"), HasSubstr("has a rank of 9"));
  EXPECT_THAT(error("no_type"), HasSubstr("99 is no element type"));
  EXPECT_THAT(error("negative"), HasSubstr("impossible sizes"));
  EXPECT_THAT(error("huge"), HasSubstr("impossible sizes"));
  EXPECT_THAT(error("twice"), HasSubstr("'w' is there twice"));
  EXPECT_THAT(error("no_name"), HasSubstr("tensor 0 of 1: has no name"));
  EXPECT_THAT(error("well"), HasSubstr("model_type is 'strange'"));
}

}  // namespace
}  // namespace headrace
