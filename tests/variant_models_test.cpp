// Corners of the families' configurations (tests/data/variants): transformers' logits of every position and greedy tokens, with its cache;
// alone, in chunks of odd sizes, and in a batch.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "api/load.h"
#include "core/json.h"
#include "headrace/session.h"
#include "test_data.h"
#include "weights/safetensors.h"

namespace headrace {
namespace {

std::string folder_of(const std::string& name) { return own_data() + "/variants/" + name; }

// Folders whose configuration has one of the model types.
std::vector<std::string> variants(bool encoders) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(own_data() + "/variants")) {
    if (!entry.is_directory()) continue;
    const Json config = read_json_file(entry.path().string() + "/config.json");
    if ((config.at("model_type") == "bert") == encoders) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

void expect_rows_close(std::span<const float> got, const SafetensorsTensor& want) {
  const auto* expected = reinterpret_cast<const float*>(want.data.data());
  const size_t width = size_t(want.sizes[-1]), rows = size_t(want.sizes.numel()) / width;
  ASSERT_EQ(got.size(), rows * width);
  for (size_t r = 0; r < rows; ++r) {
    float largest = 0, error = 0;
    for (size_t i = r * width; i < (r + 1) * width; ++i) {
      largest = std::max(largest, std::abs(expected[i]));
      error = std::max(error, std::abs(got[i] - expected[i]));
    }
    ASSERT_LE(error, 1e-4f * largest) << "row " << r;
  }
}

const SafetensorsTensor& tensor(const SafetensorsFile& file, const std::string& name) {
  const SafetensorsTensor* found = file.find(name);
  if (!found) fail(ErrorCode::kNotFound, "{}: no tensor {}", file.where(), name);
  return *found;
}

TEST(Variants, DecodersGiveHuggingFacesLogitsAndTokensHoweverTheyAreServed) {
  const std::vector<std::string> names = variants(false);
  ASSERT_GE(names.size(), 9u);
  for (const std::string& name : names)
    for (int step_tokens : {0, 7}) {
      SCOPED_TRACE(fmt::format("{}, {} tokens a step", name, step_tokens));
      LoadOptions options;
      options.dtype = "fp32", options.num_threads = 2, options.executor.max_step_tokens = step_tokens;
      const std::unique_ptr<Executor> executor = load_executor(folder_of(name), options);
      const Json expected = read_json_file(folder_of(name) + "/expected.json");
      const SafetensorsFile tensors = SafetensorsFile::open(folder_of(name) + "/expected.safetensors");
      struct Running {
        RequestId id;
        std::vector<float> logits;
      };
      std::vector<Running> running(2 * expected.at("prompts").size());
      for (size_t i = 0; i < running.size(); ++i) {  // each twice: the second may find the first's prompt computed
        const Json& prompt = expected.at("prompts")[i / 2];
        Request request{.token_ids = prompt.at("ids").get<std::vector<int32_t>>(), .max_tokens = int(prompt.at("greedy").size())};
        request.ignore_eos = true;
        if (i % 2 == 0)
          request.output.on_logits = [&all = running[i].logits](int, std::span<const float> rows, int) {
            all.insert(all.end(), rows.begin(), rows.end());
          };
        running[i].id = executor->enqueue(std::move(request));
      }
      for (size_t i = 0; i < running.size(); ++i) {
        const std::optional<Response> response = executor->await(running[i].id);
        ASSERT_EQ(response->finish, FinishReason::kLength) << response->error;
        EXPECT_EQ(response->token_ids, expected.at("prompts")[i / 2].at("greedy").get<std::vector<int32_t>>()) << "prompt " << i / 2;
        if (i % 2 == 0) expect_rows_close(running[i].logits, tensor(tensors, fmt::format("prompt{}.logits", i / 2)));
      }
    }
}

TEST(Variants, EncodersGiveHuggingFacesOutputs) {
  const std::vector<std::string> names = variants(true);
  ASSERT_GE(names.size(), 4u);
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    LoadOptions options;
    options.dtype = "fp32";
    Engine engine = load_engine(folder_of(name), options);
    Session session(std::move(engine.program), engine.weights, {.num_threads = 2, .exact = true, .compile = false});
    const Json expected = read_json_file(folder_of(name) + "/expected.json");
    const SafetensorsFile tensors = SafetensorsFile::open(folder_of(name) + "/expected.safetensors");
    for (size_t p = 0; p < expected.at("prompts").size(); ++p) {
      const auto ids = expected.at("prompts")[p].at("ids").get<std::vector<int32_t>>();
      const auto integers = [](std::vector<int32_t> v) {
        return HostTensor(DType::kI32, {int64_t(v.size())}, std::span<const int32_t>(v));
      };
      std::vector<int32_t> positions(ids.size());
      for (size_t i = 0; i < positions.size(); ++i) positions[i] = int32_t(i);
      const auto out = session.run({{"tokens", integers(ids)},
                                    {"positions", integers(positions)},
                                    {"token_types", integers(std::vector<int32_t>(ids.size(), 0))},
                                    {"sequence_offsets", integers({0, int32_t(ids.size())})}});
      size_t compared = 0;
      for (const auto& [output, got] : out) {
        const SafetensorsTensor* want = tensors.find(fmt::format("prompt{}.{}", p, output));
        if (!want) continue;  // the pooled output of classes that do not return it
        ++compared;
        expect_rows_close({got.as<float>(), size_t(want->sizes.numel())}, *want);
        EXPECT_EQ(got.view().numel(), want->sizes.numel());
      }
      EXPECT_EQ(compared, 2u);
    }
  }
}

}  // namespace
}  // namespace headrace
