// Where whole-system tests find data: the project's own small models, and a larger set that is not part of the project.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "core/test_support.h"

namespace headrace {

using test::shared_data;

// The project's own.
inline std::string own_data() { return HEADRACE_SOURCE_DIR "/tests/data"; }

struct GoldenModel {
  std::string name, path;
  std::string expected;  // path without .json and .safetensors
};

// The project's own, and those of the larger set when it is there.
inline std::vector<GoldenModel> golden_decoders() {
  std::vector<GoldenModel> models;
  for (const char* name : {"llama", "llama_gqa", "mistral", "qwen2", "qwen3", "gpt2"})
    models.push_back({name, own_data() + "/golden/" + name, own_data() + "/golden/" + name + "/expected"});
  const std::string shared = shared_data();
  for (const char* type :
       {"Q8_0", "Q4_0", "Q4_K_M", "Q6_K", "Q3_K", "F32", "F16", "BF16", "Q4_1", "Q5_0", "Q5_1", "Q2_K", "Q5_K", "IQ4_NL"}) {
    const std::string own = own_data() + "/golden/gguf/" + type, other = shared + "/golden/gguf/" + type;
    if (std::filesystem::exists(own + ".gguf")) models.push_back({std::string("gguf ") + type, own + ".gguf", own + ".expected"});
    else if (!shared.empty() && std::filesystem::exists(other + ".gguf"))
      models.push_back({std::string("gguf ") + type, other + ".gguf", other + ".expected"});
  }
  if (const std::string stories = shared + "/models/stories260k"; !shared.empty() && std::filesystem::exists(stories))
    models.push_back({"stories260k", stories, stories + "/expected"});
  return models;
}

}  // namespace headrace

// Skips the test, saying so, when the larger set is absent.
#define HEADRACE_NEED_SHARED_DATA() \
  if (headrace::shared_data().empty()) GTEST_SKIP() << "NOT RUN: no test data at HEADRACE_TEST_DATA or ../shared"
