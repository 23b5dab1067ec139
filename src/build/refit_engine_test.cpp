// Refit from checkpoints: the project's own golden models, and copies of them in which many weights differ.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/json.h"
#include "core/test_support.h"
#include "headrace/build.h"
#include "headrace/functional.h"

namespace headrace {
namespace {

namespace fs = std::filesystem;
using test::error_of;
using testing::AllOf;
using testing::HasSubstr;
using testing::internal::CaptureStderr;
using testing::internal::GetCapturedStderr;

const std::string kData = HEADRACE_SOURCE_DIR "/tests/data/";

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Weights are what stands last, in files of both kinds.
void change_weights(const std::string& path) {
  std::string bytes = bytes_of(path);
  for (size_t at = bytes.size() / 2; at < bytes.size(); at += 101) bytes[at] = char(bytes[at] ^ 1);
  std::ofstream(path, std::ios::binary) << bytes;
}

struct Refit : testing::Test {
  // The checkpoint with other weights, in a place of another name. `path`: a folder, or a GGUF.
  std::string other_weights(const std::string& path) {
    const std::string copy = folder / "other";
    fs::remove_all(copy);
    fs::create_directories(copy);
    if (!fs::is_directory(path)) {
      fs::copy(path, copy + "/model.gguf");
      change_weights(copy + "/model.gguf");
      return copy + "/model.gguf";
    }
    for (const auto& entry : fs::directory_iterator(path))
      if (entry.path().string().find("expected") == std::string::npos) fs::copy(entry, copy);
    change_weights(copy + "/model.safetensors");
    return copy;
  }
  std::string engine_of(const std::string& checkpoint, const std::string& name, WeightsMode mode = WeightsMode::kEmbed,
                        const std::string& dtype = "auto") {
    write_engine(build_engine(checkpoint, {.dtype = dtype}), folder / name, mode);
    return folder / name;
  }
  test::TempFolder folder;
};

std::vector<std::string> checkpoints() {
  std::vector<std::string> paths;
  for (const char* group : {"golden", "variants"})
    for (const auto& entry : fs::directory_iterator(kData + group))
      if (fs::exists(entry.path() / "model.safetensors")) paths.push_back(entry.path().string());
  for (const auto& entry : fs::directory_iterator(kData + "golden/gguf"))
    if (entry.path().extension() == ".gguf") paths.push_back(entry.path().string());
  return paths;
}

TEST_F(Refit, EqualsAFreshBuildToTheLastByte) {
  ASSERT_GT(checkpoints().size(), 15u);
  for (const std::string& checkpoint : checkpoints())
    for (const char* dtype : {"auto", "bf16"}) {
      SCOPED_TRACE(checkpoint + ", " + dtype);
      const std::string other = other_weights(checkpoint);
      const std::string fresh = bytes_of(engine_of(other, "fresh", WeightsMode::kEmbed, dtype));
      for (const WeightsMode mode : {WeightsMode::kEmbed, WeightsMode::kNone}) {
        const std::string path = engine_of(checkpoint, "a.engine", mode, dtype);
        EXPECT_NE(bytes_of(path), fresh);
        Engine engine = read_engine(path, {.weights = false});
        CaptureStderr();
        refit(engine, other);
        EXPECT_EQ(GetCapturedStderr(), "");
        write_engine(engine, path);  // over itself
        EXPECT_TRUE(bytes_of(path) == fresh);
      }
    }
}

TEST_F(Refit, LinksTheNewCheckpointAsAFreshBuildDoes) {
  const std::string other = other_weights(kData + "golden/llama");
  const std::string fresh = bytes_of(engine_of(other, "fresh", WeightsMode::kLink));
  Engine engine = read_engine(engine_of(kData + "golden/llama", "a.engine"), {.weights = false});
  refit(engine, other);
  write_engine(engine, folder / "b.engine", WeightsMode::kLink);
  EXPECT_TRUE(bytes_of(folder / "b.engine") == fresh);
}

TEST_F(Refit, ACheckpointOfOtherTypesOrAnotherModelIsRefusedWhole) {
  Engine engine = read_engine(engine_of(kData + "golden/llama", "a.engine"), {.weights = false});
  EXPECT_THAT(error_of([&] { refit(engine, kData + "golden/gguf/Q8_0.gguf"); }),
              AllOf(HasSubstr("do not fit the program of " + folder.path()), HasSubstr("the model wants"), HasSubstr("build a new one")));
  EXPECT_THAT(error_of([&] { refit(engine, kData + "golden/gpt2"); }),
              AllOf(HasSubstr("model.embed_tokens.weight: missing"), HasSubstr("transformer.wte.weight: not a parameter")));
  EXPECT_THAT(error_of([&] { refit(engine, kData + "golden/llama/config.json"); }), HasSubstr("without weights"));
  EXPECT_THAT(error_of([&] { refit(engine, "/no/such/place"); }), HasSubstr("does not exist"));
  EXPECT_EQ(engine.weights, nullptr);
}

TEST_F(Refit, AConfigurationThatMeansAnotherModelIsRefusedThoughTheWeightsFit) {
  const std::string other = other_weights(kData + "golden/llama");
  Json config = read_json_file(other + "/config.json");
  config["rms_norm_eps"] = 0.5;
  folder.write("other/config.json", config.dump());
  Engine engine = read_engine(engine_of(kData + "golden/llama", "a.engine"), {.weights = false});
  EXPECT_THAT(error_of([&] { refit(engine, other); }),
              AllOf(HasSubstr("describes another model"), HasSubstr("rms_norm_eps: the checkpoint has 0.5, the engine ")));
  EXPECT_EQ(engine.weights, nullptr);
}

TEST_F(Refit, WhatElseDiffersStaysAndIsNamed) {
  const std::string other = other_weights(kData + "golden/llama");
  Json config = read_json_file(other + "/config.json");
  config["transformers_version"] = "99";
  folder.write("other/config.json", config.dump());
  folder.write("other/tokenizer.json", bytes_of(other + "/tokenizer.json") + "\n");
  Engine engine = read_engine(engine_of(kData + "golden/llama", "a.engine"));
  const std::string config_before = engine.config;
  CaptureStderr();
  refit(engine, other);
  EXPECT_THAT(GetCapturedStderr(), HasSubstr("what else differs stays as it is in " + engine.origin + ": configuration, tokenizer.json\n"));
  EXPECT_EQ(engine.config, config_before);
}

TEST_F(Refit, AModelOfOnesOwnTakesASafetensorsFile) {
  Graph graph = Graph::parse(
      "graph g {\n input %tokens : i32[tokens]\n param %e : f32[3, 3]\n %x = embedding(%tokens, %e)\n"
      " return %x as \"logits\"\n}",
      builtin_ops());
  Engine engine = build_engine(std::move(graph), nullptr, {ModelKind::kDecoder, 3, 16});
  HostTensor e(DType::kF32, {3, 3});
  write_safetensors(folder / "w.safetensors", {{"e", e.view()}});
  refit(engine, folder / "w.safetensors");
  EXPECT_EQ(engine.weights->names(), std::vector<std::string>{"e"});
  write_safetensors(folder / "v.safetensors", {{"f", e.view()}});
  EXPECT_THAT(error_of([&] { refit(engine, folder / "v.safetensors"); }), HasSubstr("e: missing"));
}

}  // namespace
}  // namespace headrace
