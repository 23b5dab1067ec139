// Golden models through Session, without cache or loop: logits of every position against Hugging Face's.
#include <gtest/gtest.h>

#include "golden_rows.h"
#include "headrace/session.h"
#include "models/models.h"
#include "ops/ops.h"
#include "test_data.h"
#include "weights/checkpoint.h"
#include "weights/safetensors.h"

namespace headrace {
namespace {

HostTensor integers(const std::vector<int32_t>& values) {
  return HostTensor(DType::kI32, {int64_t(values.size())}, std::span<const int32_t>(values));
}

std::vector<int32_t> count_to(int64_t n) {
  std::vector<int32_t> values(static_cast<size_t>(n));
  for (size_t i = 0; i < values.size(); ++i) values[i] = int32_t(i);
  return values;
}

Session make_session(const std::string& path, bool compiled = true) {
  const Checkpoint checkpoint = open_checkpoint(path);
  Graph graph(builtin_ops());
  const WeightSource& weights = checkpoint.require_weights();
  find_model_family(checkpoint.config)
      .build(nn::Scope(graph,
                       [&](const std::string& name) -> std::optional<TensorType> {
                         const auto found = weights.find(name);
                         return found ? std::optional(TensorType{found->dtype, {}}) : std::nullopt;
                       }),
             checkpoint.config);
  return Session(std::move(graph), checkpoint.weights, {.num_threads = 2, .exact = true, .compile = compiled});
}

TEST(Golden, LogitsOfEveryPositionEqualHuggingFaces) {
  for (const GoldenModel& c : golden_decoders()) {
    SCOPED_TRACE(c.name);
    const Json expected = read_json_file(c.expected + ".json");
    const SafetensorsFile tensors = SafetensorsFile::open(c.expected + ".safetensors");
    for (bool compiled : {true, false}) {
      Session session = make_session(c.path, compiled);
      const auto& prompts = expected.at("prompts");
      for (size_t p = 0; p < prompts.size(); ++p) {
        const auto ids = prompts[p].at("ids").get<std::vector<int32_t>>();
        const HostTensor tokens = integers(ids), positions = integers(count_to(int64_t(ids.size()))),
                         offsets = integers({0, int32_t(ids.size())});
        const SafetensorsTensor* all = tensors.find("prompt" + std::to_string(p) + ".logits");
        const HostTensor rows = all ? positions : integers({int32_t(ids.size()) - 1});
        const auto out = session.run({{"tokens", tokens}, {"positions", positions}, {"sequence_offsets", offsets}, {"logit_rows", rows}});
        const SafetensorsTensor* want = all ? all : tensors.find("prompt" + std::to_string(p) + ".logits_last");
        ASSERT_NE(want, nullptr);
        SCOPED_TRACE((compiled ? "compiled, prompt " : "as written, prompt ") + std::to_string(p));
        ASSERT_EQ(out.at("logits").view().numel(), want->sizes.numel());
        expect_rows_close(out.at("logits"), *want);
      }
    }
  }
}

TEST(Golden, BertsOutputsEqualHuggingFaces) {
  for (const char* name : {"bert", "bert_seqcls"}) {
    const std::string folder = own_data() + "/golden/" + name;
    const Json expected = read_json_file(folder + "/expected.json");
    const SafetensorsFile tensors = SafetensorsFile::open(folder + "/expected.safetensors");
    Session session = make_session(folder);
    int compared = 0;
    for (const Json& c : expected.at("cases")) {
      std::vector<int32_t> ids, positions, types, offsets{0};
      std::vector<std::pair<int, int>> origin;  // (batch row, position) of each packed token: padding is left out
      const Json& batch = c.at("input_ids");
      for (size_t b = 0; b < batch.size(); ++b) {
        for (size_t i = 0; i < batch[b].size(); ++i)
          if (c.at("attention_mask")[b][i].get<int>()) {
            ids.push_back(batch[b][i]), positions.push_back(int32_t(i)), types.push_back(c.at("token_type_ids")[b][i]);
            origin.push_back({int(b), int(i)});
          }
        offsets.push_back(int32_t(ids.size()));
      }
      const auto out = session.run({{"tokens", integers(ids)},
                                    {"positions", integers(positions)},
                                    {"token_types", integers(types)},
                                    {"sequence_offsets", integers(offsets)}});
      for (const auto& [output, got] : out) {
        const SafetensorsTensor* want = tensors.find(c.at("name").get<std::string>() + "." + output);
        if (!want) continue;
        ++compared;
        const auto* values = reinterpret_cast<const float*>(want->data.data());
        const int64_t width = want->sizes[-1];
        for (int64_t r = 0; r < got.view().num_rows(); ++r) {
          const int64_t row = want->sizes.rank() == 3 ? origin[size_t(r)].first * want->sizes[1] + origin[size_t(r)].second : r;
          SCOPED_TRACE(std::string(name) + " " + output + " row " + std::to_string(r));
          expect_row_close(got.as<float>() + r * width, values + row * width, width);
          if (HasFatalFailure()) return;
        }
      }
    }
    EXPECT_GE(compared, 9) << name;
  }
}

}  // namespace
}  // namespace headrace
