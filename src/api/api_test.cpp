// The public doors that load a model, on the project's own golden models.
#include <gmock/gmock.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>

#include "core/json.h"
#include "core/test_support.h"
#include "headrace/build.h"
#include "headrace/encoder.h"
#include "headrace/llm.h"
#include "headrace/nn.h"
#include "headrace/perplexity.h"

namespace headrace {
namespace {

using test::error_of;
using testing::ElementsAre;
using testing::HasSubstr;

std::string golden(const std::string& name) { return HEADRACE_SOURCE_DIR "/tests/data/golden/" + name; }

const LoadOptions kExact{.dtype = "fp32", .num_threads = 2};

// ---------------------------------------------------------------------------------------------------------------- text

TEST(LoadTokenizer, OfAFolderAFileAndAnEngineIsTheSame) {
  const Engine engine = build_engine(golden("llama"));
  const std::vector<int32_t> ids = load_tokenizer(golden("llama"))->encode("The wheel turns");
  EXPECT_GT(ids.size(), 2u);
  EXPECT_EQ(load_tokenizer(golden("llama/tokenizer.json"))->encode("The wheel turns"), ids);
  EXPECT_EQ(load_tokenizer(engine)->encode("The wheel turns"), ids);
  EXPECT_THAT(error_of([] { load_tokenizer(golden("llama/model.safetensors")); }), HasSubstr("is no vocabulary"));
  EXPECT_THAT(error_of([] { load_tokenizer("/no/such/model"); }), HasSubstr("does not exist"));
  EXPECT_THAT(error_of([] { load_tokenizer(golden("gguf")); }), HasSubstr("several models"));
}

TEST(LoadChatTemplate, RendersAndEncodesWhatHuggingFaceDoes) {
  const Json chat = read_json_file(golden("llama/expected.json")).at("chat");
  const std::string messages = chat.at("messages").dump();
  const auto chat_template = load_chat_template(golden("llama"));
  ASSERT_TRUE(chat_template);
  EXPECT_EQ(chat_template->render_json(messages), chat.at("rendered").get<std::string>());
  const ChatEncoder encoder(load_tokenizer(golden("llama")), chat_template);
  EXPECT_EQ(encoder.encode_json(messages), chat.at("ids").get<std::vector<int32_t>>());
  EXPECT_EQ(load_chat_template(golden("gpt2")), nullptr);
}

// ---------------------------------------------------------------------------------------------------------------- engines

// After token t comes t + 1, and 0 after the last.
Engine counting_model(int64_t vocab) {
  const auto define = [&] {
    Graph graph(builtin_ops(), "counter");
    const nn::Scope root(graph);
    const Value x = nn::embedding(root / "embed", nn::tokens(graph), vocab, vocab);
    graph.mark_output(nn::linear(root / "head", nn::select_logit_rows(x), vocab), "logits");
    return graph;
  };
  HostTensor embed(DType::kF32, {vocab, vocab}), head(DType::kF32, {vocab, vocab});
  for (int64_t t = 0; t < vocab; ++t) embed.as<float>()[t * vocab + t] = 1, head.as<float>()[(t + 1) % vocab * vocab + t] = 8;
  return build_engine(define(), memory_weights({{"embed.weight", embed}, {"head.weight", head}}), {ModelKind::kDecoder, vocab, 64});
}

TEST(OwnModel, IsServedLikeAnyOther) {
  const auto executor = load_executor(counting_model(7));
  const RequestId id = executor->enqueue({.token_ids = {3}, .max_tokens = 6});
  EXPECT_THAT(executor->await(id)->token_ids, ElementsAre(4, 5, 6, 0, 1, 2));
}

TEST(OwnModel, WithoutATokenizerTakesAndGivesTokenIds) {
  LLM llm(counting_model(7));
  EXPECT_FALSE(llm.has_tokenizer());
  int pieces = 0;
  const Completion c = llm.generate(std::vector<int32_t>{1, 2}, {.max_tokens = 3, .output = {.logprobs = 1, .prompt_logprobs = 0}},
                                    [&](const Completion&) { ++pieces; });
  EXPECT_THAT(c.token_ids, ElementsAre(3, 4, 5));
  EXPECT_EQ(c.text, "");
  EXPECT_EQ(c.logprobs.at(2).id, 5);
  EXPECT_EQ(c.prompt_logprobs.at(0).id, 2);
  EXPECT_GE(pieces, 1);
  EXPECT_THAT(error_of([&] { llm.generate("text"); }), HasSubstr("counter: has no tokenizer files"));
  EXPECT_THAT(error_of([&] { llm.generate(std::vector<int32_t>{1}, {.stop = {"x"}}); }), HasSubstr("has no tokenizer files"));
  EXPECT_THAT(error_of([&] { llm.chat({{"user", "x"}}); }), HasSubstr("has no tokenizer files"));
}

TEST(Engine, SurvivesItsFileAndRunsTheSame) {
  const std::string file = testing::TempDir() + "api_test_" + std::to_string(getpid()) + ".engine";
  const Engine built = build_engine(golden("llama"), {.dtype = "fp32"});
  write_engine(built, file);
  const EngineInfo info = inspect(built), read = inspect(read_engine(file));
  EXPECT_EQ(read.model_type, "llama");
  EXPECT_EQ(read.num_parameters, info.num_parameters);
  EXPECT_EQ(read.kv_bytes_per_token, info.kv_bytes_per_token);
  EXPECT_GT(read.kv_bytes_per_token, 0);
  const Json prompt = read_json_file(golden("llama/expected.json")).at("prompts").at(1);
  LLM llm(read_engine(file), kExact);
  const auto greedy = prompt.at("greedy").at("ids").get<std::vector<int32_t>>();
  EXPECT_EQ(llm.generate(prompt.at("ids").get<std::vector<int32_t>>(), {.max_tokens = int(greedy.size()), .ignore_eos = true}).token_ids,
            greedy);
  std::filesystem::remove(file);
}

// ---------------------------------------------------------------------------------------------------------------- other weights

std::shared_ptr<const WeightSource> other_weights(const std::string& path) {
  const auto weights = checkpoint_weights(path);
  std::map<std::string, HostTensor> tensors;
  for (const std::string& name : weights->names()) {
    const Tensor tensor = weights->read(name);
    HostTensor copy(tensor.dtype, tensor.sizes);
    std::memcpy(copy.as<char>(), tensor.data, size_t(tensor.bytes()));
    for (int64_t i = 0; i < tensor.bytes(); i += 31) copy.as<uint8_t>()[i] ^= 1;
    tensors.emplace(name, std::move(copy));
  }
  return memory_weights(std::move(tensors));
}

std::vector<float> logits_of(Executor& executor, const std::vector<int32_t>& prompt) {
  std::vector<float> all;
  const RequestId id = executor.enqueue(
      {.token_ids = prompt,
       .max_tokens = 12,
       .output = {.on_logits = [&](int, std::span<const float> rows, int) { all.insert(all.end(), rows.begin(), rows.end()); }},
       .ignore_eos = true});
  EXPECT_EQ(executor.await(id)->error, "");
  return all;
}

TEST(Refit, AnExecutorThenComputesWhatOneOfTheNewWeightsDoes) {
  std::vector<int32_t> prompt(40);
  for (size_t i = 0; i < prompt.size(); ++i) prompt[i] = int32_t(i * 7 % 50 + 3);
  for (const char* model : {"llama", "gpt2", "gguf/Q8_0.gguf"}) {
    SCOPED_TRACE(model);
    const LoadOptions options{.num_threads = 2};
    Engine engine = build_engine(golden(model));
    const auto weights = other_weights(golden(model));
    const auto running = load_executor(golden(model), options);
    const std::vector<float> before = logits_of(*running, prompt);
    const auto cached_tokens = [&] { return running->await(running->enqueue({.token_ids = prompt, .max_tokens = 1}))->num_cached_tokens; };
    EXPECT_GT(cached_tokens(), 0);
    EXPECT_THAT(error_of([&] { running->refit(memory_weights({})); }), HasSubstr("missing"));
    EXPECT_THAT(error_of([&] { running->refit(nullptr); }), HasSubstr("no weights to give"));
    EXPECT_EQ(logits_of(*running, prompt), before) << "the old weights stay";
    running->refit(weights);
    EXPECT_EQ(cached_tokens(), 0);
    refit(engine, weights);
    const std::vector<float> after = logits_of(*running, prompt);
    EXPECT_EQ(after, logits_of(*load_executor(std::move(engine), options), prompt)) << "to the last bit";
    EXPECT_NE(after, before);
  }
}

TEST(Refit, AnEncoderThenComputesWhatOneOfTheNewWeightsDoes) {
  Engine engine = build_engine(golden("bert"));
  const auto weights = other_weights(golden("bert"));
  Encoder running(golden("bert"), kExact);
  const std::vector<float> before = running.embed({"The wheel turns"})[0].values;
  running.refit(weights);
  refit(engine, weights);
  engine.exact = true;
  EXPECT_EQ(running.embed({"The wheel turns"})[0].values, Encoder(std::move(engine), kExact).embed({"The wheel turns"})[0].values);
  EXPECT_NE(running.embed({"The wheel turns"})[0].values, before);
}

TEST(Refit, AnEngineWithoutWeightsTakesThemWhenItIsLoaded) {
  const test::TempFolder folder;
  const std::vector<int32_t> prompt = {5, 6, 7};
  for (const char* model : {"llama", "bert"}) write_engine(build_engine(golden(model)), folder / model, WeightsMode::kNone);
  const std::string llama = folder / "llama", bert = folder / "bert";
  EXPECT_THAT(error_of([&] { load_executor(llama); }), HasSubstr(llama + ": is an engine without weights; name the checkpoint"));
  EXPECT_THAT(error_of([&] { Encoder{bert}; }), HasSubstr("is an engine without weights; name the checkpoint"));
  EXPECT_THAT(error_of([&] { load_executor(golden("llama"), {.checkpoint = golden("llama")}); }), HasSubstr("is no engine"));
  EXPECT_THAT(error_of([&] { load_executor(llama, {.checkpoint = golden("gpt2")}); }), HasSubstr("do not fit the program of " + llama));
  const LoadOptions options{.num_threads = 2, .checkpoint = golden("llama")};
  EXPECT_EQ(logits_of(*load_executor(llama, options), prompt), logits_of(*load_executor(golden("llama"), {.num_threads = 2}), prompt));
  EXPECT_EQ(Encoder(bert, {.checkpoint = golden("bert")}).embed({"a"})[0].values, Encoder(golden("bert")).embed({"a"})[0].values);
}

// ---------------------------------------------------------------------------------------------------------------- encoders

struct Bert : testing::Test {
  Encoder encoder{golden("bert"), kExact};
  Json expected = read_json_file(golden("bert/expected.json"));

  std::vector<float> rows_of(const std::string& text) {
    const HostTensor hidden = encoder.run({{encoder.tokenizer().encode(text)}}).at("last_hidden_state");
    return {hidden.as<float>(), hidden.as<float>() + hidden.view().numel()};
  }
};

TEST_F(Bert, TheFirstTokensVectorIsHuggingFaces) {
  const auto text = expected.at("texts").at("single").get<std::string>();
  const Json want = expected.at("cases").at(0).at("outputs").at("last_hidden_state").at("first8");
  const Embedding got = encoder.embed({text}, {.pooling = Pooling::kCls}).at(0);
  EXPECT_EQ(got.num_tokens, 13);
  EXPECT_EQ(got.values.size(), 48u);
  for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got.values[i], want[i].get<float>(), 4e-4);
}

TEST_F(Bert, PoolingsAreWhatTheirNamesSay) {
  const std::string text = "The wheel turns";
  const std::vector<float> rows = rows_of(text);
  const size_t width = 48, tokens = rows.size() / width;
  for (Pooling pooling : {Pooling::kMean, Pooling::kCls, Pooling::kLast, Pooling::kMax}) {
    EXPECT_EQ(parse_pooling(name(pooling)), pooling);
    const std::vector<float> got = encoder.embed({text}, {.pooling = pooling}).at(0).values;
    for (size_t i = 0; i < width; ++i) {
      double sum = 0, max = -1e9;
      for (size_t t = 0; t < tokens; ++t) sum += rows[t * width + i], max = std::max<double>(max, rows[t * width + i]);
      const double want = pooling == Pooling::kMean  ? sum / double(tokens)
                          : pooling == Pooling::kCls ? rows[i]
                          : pooling == Pooling::kMax ? max
                                                     : rows[(tokens - 1) * width + i];
      ASSERT_NEAR(got[i], want, 1e-5) << name(pooling) << " " << i;
    }
  }
  EXPECT_EQ(parse_pooling("lasttoken"), Pooling::kLast);
  EXPECT_THAT(error_of([] { parse_pooling("sum"); }), HasSubstr("wanted mean, cls, last or max"));
}

TEST_F(Bert, ATextsVectorDoesNotDependOnItsNeighbours) {
  std::vector<std::string> texts;
  for (int i = 0; i < 200; ++i) texts.push_back(i % 3 ? "the river" : "The wheel turns when the gate is open");
  const std::vector<Embedding> many = encoder.embed(texts, {.normalize = true});
  for (size_t i : {0, 1, 100, 199}) {
    const Embedding alone = encoder.embed({texts[i]}, {.normalize = true}).at(0);
    ASSERT_EQ(many[i].values, alone.values) << i;
    double length = 0;
    for (float x : alone.values) length += double(x) * x;
    EXPECT_NEAR(length, 1, 1e-5);
  }
}

TEST_F(Bert, LongTextsAreTruncatedOrRefused) {
  std::string text;
  for (int i = 0; i < 400; ++i) text += "river ";
  const Embedding cut = encoder.embed({text}).at(0);
  EXPECT_TRUE(cut.truncated);
  EXPECT_EQ(cut.num_tokens, encoder.max_tokens());
  EXPECT_THAT(error_of([&] { encoder.embed({"short", text}, {.truncate = false}); }), HasSubstr("text 1 has"));
  EXPECT_THAT(error_of([&] { encoder.run({{std::vector<int32_t>(4000, 1)}}); }), HasSubstr("shorten it"));
  EXPECT_THAT(error_of([&] { encoder.run({{std::vector<int32_t>{-1}}}); }), HasSubstr("token -1"));
}

TEST_F(Bert, TokenTypesTellTwoTextsApart) {
  const EncodedPair pair = encoder.tokenizer().encode_pair("the river", "the wheel");
  const HostTensor with = encoder.run({{pair.ids}}, {{pair.type_ids}}).at("last_hidden_state");
  const HostTensor without = encoder.run({{pair.ids}}).at("last_hidden_state");
  EXPECT_NE(with.as<float>()[0], without.as<float>()[0]);
  EXPECT_THAT(error_of([&] { encoder.run({{pair.ids}}, {{std::vector<int32_t>{0}}}); }), HasSubstr("token types"));
}

TEST(Encoder, ADecoderIsRefused) {
  EXPECT_THAT(error_of([] { Encoder encoder(golden("llama")); }), HasSubstr("is a decoder"));
  EXPECT_THAT(error_of([] { load_executor(golden("bert")); }), HasSubstr("is an encoder"));
}

// ---------------------------------------------------------------------------------------------------------------- perplexity

TEST(Perplexity, IsThatOfTheTokensThatAreScored) {
  const int64_t vocab = 7;
  const auto executor = load_executor(counting_model(vocab), kExact);
  const double right = std::log(1 + (vocab - 1) * std::exp(-8.0)), wrong = right + 8;  // nll of the next number, and of any other
  std::vector<int32_t> ids;
  for (int i = 0; i < 20; ++i) ids.push_back(i % int(vocab));
  int windows = 0;
  const Perplexity halves = measure_perplexity(*executor, ids, {.context = 8, .on_window = [&](const Perplexity& so_far, int num_windows) {
                                                                  EXPECT_EQ(so_far.windows, ++windows);
                                                                  EXPECT_EQ(num_windows, 2);
                                                                }});
  EXPECT_EQ(windows, 2);
  EXPECT_EQ(halves.scored_tokens, 2 * 3);
  EXPECT_NEAR(halves.nll, 6 * right, 1e-4);
  EXPECT_NEAR(halves.perplexity(), std::exp(right), 1e-4);
  ids[10] = 0;  // 9 -> 0 where 3 was foreseen, and 0 -> 4 where 1 was
  const Perplexity sliding = measure_perplexity(*executor, ids, {.context = 8, .stride = 3});
  EXPECT_EQ(sliding.scored_tokens, 19);
  EXPECT_NEAR(sliding.nll, 17 * right + 2 * wrong, 1e-3);
}

TEST(Perplexity, WhatCannotBeScoredIsRefused) {
  const auto executor = load_executor(counting_model(7), kExact);
  const auto error = [&](std::vector<int32_t> ids, PerplexityOptions options) {
    return error_of([&] { measure_perplexity(*executor, ids, options); });
  };
  EXPECT_THAT(error({1}, {.context = 8, .stride = 1}), HasSubstr("at least 2 are needed"));
  EXPECT_THAT(error({1, 2, 3}, {.context = 8}), HasSubstr("fewer than one window of 8"));
  EXPECT_THAT(error({1, 2, 3}, {.context = 1}), HasSubstr("a context of 1 tokens"));
  EXPECT_THAT(error({1, 2, 3}, {.context = 100}), HasSubstr("between 2 and 64"));
  EXPECT_THAT(error({1, 2, 3}, {.context = 2, .stride = 3}), HasSubstr("a stride of 3"));
}

}  // namespace
}  // namespace headrace
