// The program, end to end, on the project's own small models.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <thread>

#include "golden_rows.h"
#include "program.h"
#include "test_data.h"
#include "weights/safetensors.h"

namespace headrace {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string golden(const std::string& name) { return own_data() + "/golden/" + name; }

std::string list(const Json& ids) {
  std::string text;
  for (const Json& id : ids) text += (text.empty() ? "" : ",") + id.dump();
  return text;
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  return names;
}

const std::vector<std::string> kExact = {"--dtype", "fp32", "--ignore-eos", "--json", "--threads", "2"};

std::vector<std::string> operator+(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Tensor tensor_of(const SafetensorsFile& file, const std::string& name) {
  const SafetensorsTensor* t = file.find(name);
  if (!t || !t->dtype) fail(ErrorCode::kNotFound, "no tensor {}", name);
  return Tensor::contiguous(static_cast<const void*>(t->data.data()), *t->dtype, t->sizes);
}

// ---------------------------------------------------------------------------------------------------------------- run

TEST(Run, WritesTheTokensAndLogitsThatHuggingFaceComputes) {
  for (const GoldenModel& m : golden_decoders()) {
    if (m.name == "stories260k" || m.path.find(own_data()) == std::string::npos) continue;
    SCOPED_TRACE(m.name);
    const TempFolder scratch;
    const Json expected = read_json_file(m.expected + ".json");
    const SafetensorsFile tensors = SafetensorsFile::open(m.expected + ".safetensors");
    const Json& prompt = expected.at("prompts").at(2);
    const std::vector<std::string> run = {"run", m.path, "--prompt-ids", list(prompt.at("ids"))};
    const Outcome greedy =
        headrace(run + kExact + std::vector<std::string>{"-n", "24", "--logprobs", "2", "--logits-out", scratch / "logits.safetensors"});
    ASSERT_EQ(greedy.code, 0) << greedy.err;
    const Json json = greedy.json();
    EXPECT_EQ(json.at("token_ids"), prompt.at("greedy").at("ids"));
    EXPECT_EQ(json.at("finish_reason"), "length");
    EXPECT_EQ(json.at("prompt_tokens"), prompt.at("ids").size());
    ASSERT_EQ(json.at("logprobs").size(), 24u);
    for (size_t i = 0; i < 24; ++i) {
      EXPECT_NEAR(json["logprobs"][i]["logprob"].get<double>(), prompt["greedy"]["logprobs"][i].get<double>(), 1e-3);
      EXPECT_EQ(json["logprobs"][i]["top"][0]["id"], json["token_ids"][i]);
    }
    const SafetensorsFile logits = SafetensorsFile::open(scratch / "logits.safetensors");
    EXPECT_EQ(tensor_of(logits, "logits").sizes[0], int64_t(prompt.at("ids").size()) + 23);
    if (const SafetensorsTensor* all = tensors.find("prompt2.logits")) expect_rows_close(tensor_of(logits, "logits"), *all);
    else expect_rows_close(tensor_of(logits, "logits"), *tensors.find("prompt2.logits_last"), int64_t(prompt.at("ids").size()) - 1);

    const Json& penalised = prompt.at("greedy_repetition_penalty");
    const Outcome penalty = headrace(run + kExact + std::vector<std::string>{"-n", "16", "--repetition-penalty", "1.3"});
    EXPECT_EQ(penalty.json().at("token_ids"), penalised.at("ids"));
  }
}

TEST(Run, WritesEveryOutputOfAnEncoder) {
  const TempFolder scratch;
  const Json c = read_json_file(golden("bert/expected.json")).at("cases").at(0);
  const Outcome o =
      headrace({"run", golden("bert"), "--prompt-ids", list(c.at("input_ids").at(0)), "--dtype", "fp32", "--logits-out", scratch / "out"});
  ASSERT_EQ(o.code, 0) << o.err;
  const SafetensorsFile expected = SafetensorsFile::open(golden("bert/expected.safetensors")), got = SafetensorsFile::open(scratch / "out");
  int compared = 0;
  for (const SafetensorsTensor& t : got.tensors())
    if (const SafetensorsTensor* want = expected.find(c.at("name").get<std::string>() + "." + t.name))
      expect_rows_close(tensor_of(got, t.name), *want), ++compared;
  EXPECT_GE(compared, 4);
}

TEST(Run, ACheckpointWhoseTensorsLieAskewGivesTheSame) {
  for (const char* model : {"llama", "gpt2"}) {
    const TempFolder scratch;
    std::filesystem::copy(golden(model), scratch / model);
    std::string file = read_text(golden(model) + "/model.safetensors");
    file.insert(9, "  ");  // spaces in the header: no tensor is where 4-byte numbers can be read in place
    file[0] = char(file[0] + 2);
    write_text(scratch / model + "/model.safetensors", file);
    const std::vector<std::string> rest = std::vector<std::string>{"--prompt-ids", "5,6,7,8", "-n", "8"} + kExact;
    const Outcome even = headrace(std::vector<std::string>{"run", golden(model)} + rest);
    const Outcome askew = headrace(std::vector<std::string>{"run", scratch / model} + rest);
    ASSERT_EQ(askew.code, 0) << askew.err;
    EXPECT_EQ(askew.json().at("token_ids"), even.json().at("token_ids")) << model;
  }
}

TEST(Run, TextComesOutTheSameStreamedAndAsJson) {
  const std::vector<std::string> run = {"run", golden("llama"), "-n", "12", "--ignore-eos", "--dtype", "fp32"};
  const Outcome piped = headrace(run, "The wheel turns\n");
  const Outcome given = headrace(run + std::vector<std::string>{"-p", "The wheel turns", "--json"});
  ASSERT_EQ(piped.code, 0) << piped.err;
  EXPECT_EQ(piped.out, given.json().at("text").get<std::string>() + "\n");
  EXPECT_EQ(piped.err, "") << "nothing but the answer unless it was asked for";
  EXPECT_EQ(given.json().at("token_ids").size(), 12u);
}

TEST(Run, TellsTimesAndStops) {
  const Outcome whole =
      headrace({"run", golden("llama"), "-p", "The wheel turns", "-n", "12", "--ignore-eos", "--json", "--stats", "--prompt-logprobs"});
  const Json json = whole.json();
  EXPECT_THAT(whole.err, HasSubstr("tok/s"));
  for (const char* key : {"load_s", "ttft_s", "prefill_tokens_per_s", "decode_tokens_per_s"})
    EXPECT_GT(json.at("timings").at(key).get<double>(), 0) << key;
  EXPECT_EQ(json.at("prompt_logprobs").size(), json.at("prompt_tokens").get<size_t>() - 1);
  const std::string text = json.at("text").get<std::string>();
  size_t at = text.size() / 2;
  while (at < text.size() && (text[at] & 0x80)) ++at;
  ASSERT_LT(at, text.size()) << text;
  const std::string stop = text.substr(at, 1);
  const Json stopped =
      headrace({"run", golden("llama"), "-p", "The wheel turns", "-n", "12", "--ignore-eos", "--json", "--stop", stop}).json();
  EXPECT_EQ(stopped.at("text"), text.substr(0, text.find(stop)));
  EXPECT_EQ(stopped.at("finish_reason"), "stop");
}

TEST(Run, ASeedMakesSamplingRepeatable) {
  const auto sample = [](const std::string& seed) {
    return headrace({"run",
                     golden("llama"),
                     "-p",
                     "The wheel",
                     "-n",
                     "16",
                     "--ignore-eos",
                     "--json",
                     "--temperature",
                     "1.5",
                     "--top-k",
                     "50",
                     "--top-p",
                     "0.95",
                     "--min-p",
                     "0.01",
                     "--presence-penalty",
                     "-0.5",
                     "--frequency-penalty",
                     "0.1",
                     "--logit-bias",
                     "5=-inf,6=-1.5",
                     "--seed",
                     seed})
        .json()
        .at("token_ids");
  };
  EXPECT_EQ(sample("1"), sample("1"));
  EXPECT_NE(sample("1"), sample("2"));
}

TEST(Run, AnswersThroughTheChatTemplate) {
  const Outcome o = headrace({"run", golden("llama"), "--chat", "Hello", "--system", "Be brief.", "-n", "4", "--json"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_GT(o.json().at("prompt_tokens").get<int>(), 4);
}

TEST(Run, ABadChatTemplateHindersNothingButChat) {
  const TempFolder scratch;
  std::filesystem::copy(golden("llama"), scratch / "model");
  write_text(scratch / "model/chat_template.jinja", "{% if %}");
  const Outcome o = headrace({"run", scratch / "model", "-p", "The wheel", "-n", "4", "--ignore-eos"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.out, headrace({"run", golden("llama"), "-p", "The wheel", "-n", "4", "--ignore-eos"}).out);
}

// ---------------------------------------------------------------------------------------------------------------- build, inspect

TEST(Build, AnEngineRunsAsItsModelDoes) {
  const TempFolder scratch;
  for (const char* name : {"llama", "gguf/Q8_0.gguf"}) {
    const std::vector<std::string> rest = {"-p", "In the spring", "-n", "16", "--ignore-eos", "--json"};
    const Json wanted = headrace(std::vector<std::string>{"run", golden(name)} + rest).json();
    for (const char* mode : {"embed", "link"}) {
      const Outcome built = headrace({"build", golden(name), "-o", scratch / "engine", "--weights", mode});
      ASSERT_EQ(built.code, 0) << built.err;
      const Json got = headrace(std::vector<std::string>{"run", scratch / "engine"} + rest).json();
      EXPECT_EQ(got.at("token_ids"), wanted.at("token_ids")) << name << " " << mode;
      EXPECT_EQ(got.at("text"), wanted.at("text"));
    }
  }
  EXPECT_EQ(scratch.names(), std::vector<std::string>{"engine"}) << "and nothing is left beside it";
  ASSERT_EQ(headrace({"build", golden("llama"), "-o", scratch / "engine", "--weights", "none"}).code, 0);
  const Outcome empty = headrace({"run", scratch / "engine", "-p", "x"});
  EXPECT_EQ(empty.code, 1);
  EXPECT_THAT(empty.err, HasSubstr("without weights"));
}

TEST(Refit, GivesAnEngineOtherWeightsAsABuildWould) {
  const TempFolder folder;
  const std::string llama = golden("llama"), engine = folder / "a.engine", fresh = folder / "fresh.engine";
  std::filesystem::copy(llama, folder / "other");
  std::string weights = read_text(folder / "other/model.safetensors");
  for (size_t at = weights.size() / 2; at < weights.size(); at += 101) weights[at] = char(weights[at] ^ 1);
  write_text(folder / "other/model.safetensors", weights);
  ASSERT_EQ(headrace({"build", folder / "other", "-o", fresh}).code, 0);
  ASSERT_EQ(headrace({"build", llama, "-o", engine, "--weights", "none"}).code, 0);
  EXPECT_EQ(headrace({"refit", engine, folder / "other", "-o", folder / "b.engine", "--json"}).json().at("bytes"),
            std::filesystem::file_size(fresh));
  EXPECT_TRUE(read_text(folder / "b.engine") == read_text(fresh));
  const auto ids = [&](const std::vector<std::string>& words) {
    const Outcome o = headrace(words + std::vector<std::string>{"--prompt-ids", "5,6,7", "-n", "12", "--json", "--threads", "2"});
    EXPECT_EQ(o.code, 0) << o.err;
    return o.json().at("token_ids");
  };
  EXPECT_EQ(ids({"run", engine, "--checkpoint", folder / "other"}), ids({"run", folder / "other"}));
  EXPECT_EQ(headrace({"refit", engine, folder / "other", "-o", engine}).code, 0) << "over itself";
  EXPECT_TRUE(read_text(engine) == read_text(fresh));
  EXPECT_EQ(headrace({"eval", folder / "b.engine", "--checkpoint", llama, "--text", llama + "/config.json", "--max-tokens", "40",
                      "--context", "16"})
                .code,
            0);

  const auto fails_with = [&](const std::vector<std::string>& words, const std::string& part) {
    const Outcome o = headrace(words);
    EXPECT_EQ(o.code, 1);
    EXPECT_THAT(o.err, HasSubstr(part));
  };
  fails_with({"refit", engine, golden("gpt2"), "-o", engine}, "do not fit the program");
  EXPECT_TRUE(read_text(engine) == read_text(fresh)) << "nothing is written over";
  fails_with({"refit", engine, golden("gguf/Q8_0.gguf"), "-o", golden("gguf/Q8_0.gguf")}, "written over the weights");
  fails_with({"refit", llama, llama, "-o", folder / "c.engine"}, llama);
  ASSERT_EQ(headrace({"build", llama, "-o", engine, "--weights", "none"}).code, 0);
  fails_with({"run", engine, "-p", "a"}, "is an engine without weights; name the checkpoint that they are in with --checkpoint PATH");
  EXPECT_EQ(headrace({"refit", engine, llama}).code, 2) << "no -o";
}

TEST(Build, AnEngineWithoutWeightsDoesAllThatNeedsNone) {
  const TempFolder folder;
  const std::string llama = golden("llama"), engine = folder / "a.engine", copy = folder / "b.engine";
  ASSERT_EQ(headrace({"build", llama, "-o", engine, "--weights", "none"}).code, 0);
  const Json info = headrace({"inspect", engine, "--json"}).json(), whole = headrace({"inspect", llama, "--json"}).json();
  EXPECT_EQ(info.at("has_weights"), false);
  for (const char* figure : {"num_parameters", "weight_bytes", "kv_bytes_per_token", "dtypes"})
    EXPECT_EQ(info.at(figure), whole.at(figure));
  EXPECT_EQ(headrace({"tokenize", engine, "-p", "The wheel"}).out, headrace({"tokenize", llama, "-p", "The wheel"}).out);
  EXPECT_EQ(headrace({"build", engine, "-o", copy, "--weights", "none"}).code, 0);
  EXPECT_TRUE(read_text(copy) == read_text(engine));
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{{"run", engine, "-p", "x"},
                                                                                     {"bench", engine, "--prompt", "16", "--gen", "4"},
                                                                                     {"eval", engine, "--text", llama + "/config.json"},
                                                                                     {"build", engine, "-o", folder / "c"}}) {
    const Outcome o = headrace(words);
    EXPECT_EQ(o.code, 1) << words[0];
    EXPECT_THAT(o.err, HasSubstr("is an engine without weights; name the checkpoint that they are in with --checkpoint PATH")) << words[0];
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "c"));
}

TEST(Inspect, CountsWhatIsThere) {
  const Json json = headrace({"inspect", golden("llama"), "--json"}).json();
  const Json config = read_json_file(golden("llama/config.json"));
  EXPECT_EQ(json.at("vocab_size"), config.at("vocab_size"));
  EXPECT_EQ(json.at("max_positions"), config.at("max_position_embeddings"));
  EXPECT_EQ(json.at("kind"), "decoder");
  EXPECT_EQ(json.at("weight_bytes"), 4 * json.at("num_parameters").get<int64_t>()) << "fp32";
  const int64_t head_dim = config.at("hidden_size").get<int64_t>() / config.at("num_attention_heads").get<int64_t>();
  EXPECT_EQ(json.at("kv_bytes_per_token"),
            2 * 4 * config.at("num_hidden_layers").get<int64_t>() * config.at("num_key_value_heads").get<int64_t>() * head_dim);
  EXPECT_THAT(headrace({"inspect", golden("llama"), "--program"}).out, HasSubstr("return"));
  const TempFolder scratch;
  ASSERT_EQ(headrace({"inspect", golden("llama"), "--graph", scratch / "g.svg"}).code, 0);
  EXPECT_THAT(read_text(scratch / "g.svg"), HasSubstr("</svg>"));
  const Json bert = headrace({"inspect", golden("bert"), "--json"}).json();
  EXPECT_EQ(bert.at("kind"), "encoder");
  EXPECT_EQ(bert.at("kv_bytes_per_token"), 0);
}

TEST(Inspect, PrintsTheProgramWithLayersOnceOrAsItIs) {
  const std::string folded = headrace({"inspect", golden("llama"), "--program"}).out;
  const std::string all = headrace({"inspect", golden("llama"), "--program", "--all"}).out;
  EXPECT_LE(folded.size(), all.size());
  EXPECT_EQ(all + "\n", headrace({"inspect", golden("llama"), "--program", "--json"}).json().at("program").get<std::string>() + "\n");
}

// ---------------------------------------------------------------------------------------------------------------- debugging

TEST(Debugging, MarkedValuesAreWrittenForEachRunAndTheAnswerStaysTheSame) {
  const TempFolder scratch;
  const std::vector<std::string> run = {"run", golden("llama"), "--prompt-ids", "3,1,4,1,5", "-n", "3", "--ignore-eos"};
  const std::string answer = headrace(run).out;
  const Outcome marked = headrace(run + std::vector<std::string>{"--mark", "model.layers.?.mlp.up_proj", "--debug-dump", scratch / "dump"});
  ASSERT_EQ(marked.code, 0) << marked.err;
  EXPECT_EQ(marked.out, answer);
  const Json manifest = read_json_file(scratch / "dump/manifest.json");
  ASSERT_EQ(manifest.at("runs").size(), 3u);
  EXPECT_EQ(manifest["runs"][0].at("phase"), "prefill");
  EXPECT_EQ(manifest["runs"][2].at("phase"), "decode");
  std::vector<std::string> outputs;
  for (const Json& v : manifest["runs"][1].at("values"))
    if (v.at("kind") == "output") outputs.push_back(v.at("name"));
  EXPECT_THAT(outputs, testing::IsSupersetOf({"logits", "model.layers.0.mlp.up_proj", "model.layers.1.mlp.up_proj"}));
  const Outcome shown = headrace(run + std::vector<std::string>{"--mark", "model.layers.0"});
  EXPECT_EQ(shown.out, answer);
  EXPECT_EQ(std::count(shown.err.begin(), shown.err.end(), '\n'), 3) << shown.err;
  EXPECT_THAT(shown.err, HasSubstr("prefill 0  model.layers.0  f32[5, "));
}

TEST(Debugging, ChecksProfilesAndTracesGoBesideTheAnswer) {
  const TempFolder scratch;
  const Outcome o = headrace({"run", golden("qwen2"), "--prompt-ids", "3,1,4", "-n", "2", "--json", "--check", "--profile", "--trace",
                              scratch / "t.json", "--dump-passes", scratch / "passes", "--skip-pass", "fuse-linear"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.json().at("token_ids").size(), 2u);
  EXPECT_THAT(o.err, HasSubstr("worst at"));
  EXPECT_THAT(o.err, HasSubstr("prefill: 1 run,"));
  EXPECT_THAT(o.err, HasSubstr("decode: 1 run,"));
  EXPECT_THAT(o.err, Not(HasSubstr("BEYOND")));
  EXPECT_GT(read_json_file(scratch / "t.json").at("traceEvents").size(), 20u);
  const std::vector<std::string> passes = names_in(scratch / "passes");
  EXPECT_THAT(passes, testing::Contains("01-mark.txt"));
  EXPECT_THAT(passes, Not(testing::Contains(HasSubstr("fuse-linear"))));
}

// ---------------------------------------------------------------------------------------------------------------- text

TEST(Tokenize, GoesThereAndBack) {
  const std::string text = "In the spring the river was high,\nand caf\u00e9 \U0001f600\n";
  for (const std::string& model : {golden("llama"), golden("llama/tokenizer.json"), golden("gguf/Q8_0.gguf")}) {
    const Outcome o = headrace({"tokenize", model, "--no-special", "--json"}, text);
    ASSERT_EQ(o.code, 0) << o.err;
    const Json json = o.json();
    EXPECT_EQ(json.at("ids").size(), json.at("tokens").size());
    EXPECT_EQ(headrace({"tokenize", model, "--decode", list(json.at("ids"))}).out, text) << "standard input is taken to its last byte";
    EXPECT_EQ(headrace({"tokenize", model, "--decode", list(json.at("ids")), "--json"}).json().at("text"), text);
  }
}

TEST(Render, PrintsTheRenderingAndNothingElse) {
  const TempFolder scratch;
  write_text(scratch / "t.jinja", "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}{{ strftime_now('%Y') }}");
  write_text(scratch / "c.json", R"({"messages": [{"role": "user", "content": "hi"}], "add_generation_prompt": true})");
  const Outcome o = headrace({"render", scratch / "t.jinja", "--context", scratch / "c.json", "--now", "2024-07-26"});
  EXPECT_EQ(o.out, "user: hi\n2024") << o.err;
  const Json chat = read_json_file(golden("llama/expected.json")).at("chat");
  if (chat.is_object() && chat.contains("messages")) {
    write_text(scratch / "c.json", Json{{"messages", chat.at("messages")}, {"add_generation_prompt", true}}.dump());
    EXPECT_EQ(headrace({"render", golden("llama"), "--context", scratch / "c.json"}).out, chat.at("rendered"));
  }
}

TEST(Render, TakesTheTemplateForToolsFromAFileOfItsOwn) {
  const TempFolder scratch;
  std::filesystem::copy(golden("llama/tokenizer.json"), scratch / "tokenizer.json");
  write_text(scratch / "tokenizer_config.json",
             R"({"eos_token": "</s>", "chat_template": "C{{ bos_token }}{{ eos_token }}{{ bos_token is defined }}"})");
  std::filesystem::create_directory(scratch / "additional_chat_templates");
  write_text(scratch / "additional_chat_templates/tool_use.jinja", "T{{ tools | length }}");
  write_text(scratch / "plain.json", R"({"messages": []})");
  write_text(scratch / "tools.json", R"({"messages": [], "tools": [{}, {}]})");
  const auto rendered = [&](const char* context) { return headrace({"render", scratch.path(), "--context", scratch / context}).out; };
  EXPECT_EQ(rendered("plain.json"), "C</s>False");
  EXPECT_EQ(rendered("tools.json"), "T2");
  write_text(scratch / "chat_template.jinja", "F");
  EXPECT_EQ(rendered("plain.json"), "F");
  EXPECT_EQ(rendered("tools.json"), "T2");
}

// ---------------------------------------------------------------------------------------------------------------- figures

TEST(Eval, GivesTheMeanOfTheModelsOwnLogprobs) {
  const TempFolder scratch;
  std::string text;
  for (int i = 0; i < 12; ++i) text += "In the spring the river was high, and the wheel turns. ";
  write_text(scratch / "text", text);
  const Json eval = headrace({"eval", golden("llama"), "--text", scratch / "text", "--context", "32", "--dtype", "fp32", "--json"}).json();
  const Json ids = headrace({"tokenize", golden("llama"), "--no-special", "--json"}, text).json().at("ids");
  double nll = 0;
  int64_t tokens = 0;
  for (size_t begin = 0; begin + 32 <= ids.size(); begin += 32) {
    const Json window(std::vector<Json>(ids.begin() + int64_t(begin), ids.begin() + int64_t(begin) + 32));
    const Json run =
        headrace({"run", golden("llama"), "--prompt-ids", list(window), "-n", "0", "--dtype", "fp32", "--prompt-logprobs", "--json"})
            .json();
    for (size_t i = 16; i < 31; ++i, ++tokens) nll -= run.at("prompt_logprobs").at(i).at("logprob").get<double>();
  }
  ASSERT_GT(tokens, 15);
  EXPECT_EQ(eval.at("tokens"), tokens);
  EXPECT_NEAR(eval.at("perplexity").get<double>(), std::exp(nll / double(tokens)), 1e-3 * eval.at("perplexity").get<double>());
  const Json sliding = headrace({"eval", golden("llama"), "--text", scratch / "text", "--context", "32", "--stride", "8", "--json"}).json();
  EXPECT_EQ(sliding.at("tokens"), ids.size() - 1) << "every token that something precedes, once";
}

TEST(Bench, MeasuresAModelOfWhichOnlyTheConfigurationIsThere) {
  const Outcome o = headrace({"bench", golden("llama/config.json"), "--random-weights=3", "--prompt", "24", "--gen", "8", "--batch", "1,3",
                              "--threads", "1,2", "--rounds", "1", "--json"});
  ASSERT_EQ(o.code, 0) << o.err;
  const Json results = o.json().at("results");
  ASSERT_EQ(results.size(), 4u);
  for (const Json& r : results)
    for (const char* key :
         {"prefill_tokens_per_s", "decode_tokens_per_s", "bytes_per_token", "read_gb_per_s", "bandwidth_share", "peak_rss_bytes"})
      EXPECT_GT(r.at(key).get<double>(), 0) << key;
  EXPECT_EQ(results[3].at("batch"), 3);
  EXPECT_EQ(results[3].at("threads"), 2);
  const TempFolder scratch;
  const Outcome text = headrace(
      {"bench", "--model", golden("llama"), "--prompt", "16", "--gen", "0", "--threads", "1", "--rounds", "1", "--svg", scratch / "r.svg"});
  EXPECT_THAT(text.out, HasSubstr("of the roof"));
  EXPECT_THAT(text.out, testing::EndsWith(" tok/s\n"));
  EXPECT_THAT(read_text(scratch / "r.svg"), HasSubstr("</svg>"));
}

TEST(Embed, PoolsTheMeanOfAllTokensInABatchAsAlone) {
  const Outcome both = headrace({"embed", golden("bert"), "--json", "--normalize", "--dtype", "fp32"}, "the river\nthe wheel turns\n");
  ASSERT_EQ(both.code, 0) << both.err;
  const Json vectors = both.json().at("embeddings");
  ASSERT_EQ(vectors.size(), 2u);
  const Json alone = headrace({"embed", golden("bert"), "-p", "the wheel turns", "--json", "--normalize", "--dtype", "fp32"})
                         .json()
                         .at("embeddings")
                         .at(0);
  double cosine = 0, length = 0;
  for (size_t i = 0; i < alone.size(); ++i)
    cosine += alone[i].get<double>() * vectors[1][i].get<double>(), length += alone[i].get<double>() * alone[i].get<double>();
  EXPECT_NEAR(cosine, 1, 1e-5);
  EXPECT_NEAR(length, 1, 1e-5);
}

TEST(Doctor, SaysWhichInstructionsAreUsedAndWhy) {
  const Json json = headrace({"doctor", "--json"}).json();
  EXPECT_GT(json.at("read_gb_per_s").get<double>(), 0);
  EXPECT_GE(json.at("cores_allowed").get<int>(), 1);
  EXPECT_FALSE(json.at("isa").get<std::string>().empty());
  EXPECT_FALSE(json.at("isa_reason").get<std::string>().empty());
  EXPECT_GE(json.at("threads").get<int>(), 1);
  EXPECT_THAT(json.at("cuda").get<std::string>(), HasSubstr("no CUDA backend in this build"));
  EXPECT_THAT(json.dump(), testing::Not(HasSubstr("TEST_DATA"))) << "that is for who builds it";
}

// ---------------------------------------------------------------------------------------------------------------- bad input

struct BadInput {
  std::vector<std::string> arguments;
  int code;
  std::string message;
  std::string input = "";
};

TEST(BadInput, IsOneClearLineAndTheRightExitCode) {
  const TempFolder scratch;
  write_text(scratch / "bad.jinja", "{% if %}");
  write_text(scratch / "raise.jinja", "{{ raise_exception('roles must alternate') }}");
  write_text(scratch / "ok.json", "{}");
  write_text(scratch / "bad.json", "{");
  write_text(scratch / "short.txt", "short");
  write_text(scratch / "junk.gguf", "GGUF junk");
  write_text(scratch / "junk", "junk");
  ASSERT_EQ(::mkfifo((scratch / "pipe").c_str(), 0600), 0);
  std::filesystem::copy(golden("llama"), scratch / "model");
  Json config = read_json_file(scratch / "model/config.json");
  config["hidden_size"] = 0;
  write_text(scratch / "model/config.json", config.dump());
  write_text(scratch / "dtype.json", R"({"model_type": "llama", "dtype": 7})");
  std::filesystem::copy(golden("llama"), scratch / "chat");
  write_text(scratch / "chat/chat_template.jinja", "{% if %}");
  std::filesystem::copy(golden("llama"), scratch / "text");
  write_text(scratch / "text/tokenizer.json", "{");
  const std::string llama = golden("llama");
  const std::string long_prompt(40'000, 'x');
  const std::vector<BadInput> table = {
      {{"fly"}, 2, "'fly' is no verb; there are run, chat"},
      {{"insepct", llama}, 2, "did you mean 'inspect'?"},
      {{"help", "fly"}, 2, "'fly' is no verb"},
      {{"--nonsense"}, 2, "'--nonsense' is no option of 'headrace'"},
      {{"run"}, 2, "MODEL is required; see 'headrace run --help'"},
      {{"run", llama, "--nonsense"}, 2, "'--nonsense' is no option of 'headrace run'; see 'headrace run --help'"},
      {{"run", llama, "-p", "x", "--temprature", "0.5"},
       2,
       "'--temprature' is no option of 'headrace run' (did you mean '--temperature'?)"},
      {{"run", llama, "--promt=x"}, 2, "did you mean '--prompt'?"},
      {{"run", llama, "-p", "Once", "upon", "a", "time"}, 2, "'upon' is one word too many for 'headrace run'; quote"},
      {{"run", llama, "-p", "x", "--chat", "y"}, 2, "exclude"},
      {{"run", llama, "-p", "x", "--system", "y"}, 2, "--chat"},
      {{"run", llama, "-p", "x", "-n", "many"}, 2, "'many' is not a whole number"},
      {{"run", llama, "-p", "x", "--temperature", "hot"}, 2, "--temperature: 'hot'"},
      {{"run", llama, "-p", "x", "--threads", "-1"}, 2, "--threads"},
      {{"run", llama, "--prompt-ids", "1,,2"}, 2, "--prompt-ids"},
      {{"run", llama, "-p", "x", "--logit-bias", "5"}, 2, "ID=BIAS"},
      {{"build", llama}, 2, "-o"},
      {{"build", llama, "-o", scratch / "e", "--weights", "some"}, 2, "embed, link or none"},
      {{"run", "/no/such/model", "-p", "x"}, 1, "/no/such/model: does not exist"},
      {{"run", scratch / "junk", "-p", "x"}, 1, "is no model"},
      {{"run", scratch / "junk.gguf", "-p", "x"}, 1, "junk.gguf"},
      {{"run", golden("llama/config.json"), "-p", "x"}, 1, "random weights"},
      {{"run", llama, "-p", "\xff\xfe"}, 1, "UTF-8"},
      {{"run", llama, "-p", long_prompt}, 1, "but the context holds"},
      {{"run", llama, "--chat", "\xff\xfe"}, 1, "message 0 (user): the text is not valid UTF-8"},
      {{"run", llama, "--chat", "x", "--system", "a\xff"}, 1, "message 0 (system): the text is not valid UTF-8"},
      {{"run", scratch / "pipe", "-p", "x"}, 1, "pipe: is no model"},
      {{"tokenize", scratch / "pipe", "-p", "x"}, 1, "pipe"},
      {{"run", scratch / "model", "-p", "x"}, 1, scratch / "model: config.json: 'hidden_size' is 0"},
      {{"inspect", scratch / "dtype.json", "--random-weights"}, 1, scratch / "dtype.json: config.json: 'dtype' is 7"},
      {{"run", scratch / "chat", "--chat", "x"}, 1, scratch / "chat: chat template, line 1"},
      {{"chat", scratch / "chat"}, 1, scratch / "chat: chat template, line 1"},
      {{"run", scratch / "text", "-p", "x"}, 1, scratch / "text: tokenizer.json: not valid JSON"},
      {{"run", llama, "--prompt-ids", ""}, 1, "prompt is empty"},
      {{"run", llama, "--prompt-ids", "1,999999"}, 1, "999999"},
      {{"run", llama, "-p", "x", "--temperature", "-1"}, 1, "temperature is -1"},
      {{"run", llama, "-p", "x", "--temperature", "nan"}, 1, "temperature is nan"},
      {{"run", llama, "-p", "x", "--top-p", "1.5"}, 1, "top_p is 1.5"},
      {{"run", llama, "-p", "x", "--repetition-penalty", "0"}, 1, "repetition_penalty"},
      {{"run", llama, "-p", "x", "--stop", ""}, 1, "stop[0] is empty"},
      {{"run", llama, "-p", "x", "--dtype", "int3"}, 1, "dtype 'int3' is not known"},
      {{"run", llama, "-p", "x", "--device", "tpu:0"}, 1, "device 'tpu:0'"},
      {{"run", llama, "-p", "x", "--context", "99999999"}, 1, "context"},
      {{"run", llama, "-p", "x", "-n", "1", "--logits-out", "/no/such/folder/x"}, 1, "/no/such/folder"},
      {{"run", golden("bert"), "-p", "x"}, 1, "encoder"},
      {{"run", golden("gpt2"), "--chat", "x"}, 1, golden("gpt2") + ": has no chat template"},
      {{"chat", golden("gpt2")}, 1, "no chat template"},
      {{"embed", llama, "-p", "x"}, 1, "decoder"},
      {{"tokenize", llama}, 1, "UTF-8", "\xc3"},
      {{"tokenize", scratch / "junk", "-p", "x"}, 1, "no vocabulary"},
      {{"render", scratch / "bad.jinja", "--context", scratch / "ok.json"}, 1, "line 1"},
      {{"render", scratch / "raise.jinja", "--context", scratch / "ok.json"}, 1, "roles must alternate"},
      {{"render", scratch / "raise.jinja", "--context", scratch / "bad.json"}, 1, "bad.json"},
      {{"render", scratch / "raise.jinja", "--context", scratch / "ok.json", "--now", "yesterday"}, 1, "yesterday"},
      {{"eval", llama, "--text", scratch / "short.txt"}, 1, "fewer than one window"},
      {{"eval", llama, "--text", "/no/such/text"}, 1, "/no/such/text"},
      {{"build", llama, "-o", "/no/such/folder/engine"}, 1, "/no/such/folder"},
      {{"build", llama, "-o", scratch / "pipe"}, 1, "no regular file"},
      {{"run", llama, "-p", "x", "-n", "1", "--logits-out", scratch.path()}, 1, "a folder"},
      {{"inspect", llama, "--graph", scratch / "pipe"}, 1, "no regular file"},
      {{"run", llama, "--prompt-ids", "1", "--mark", "model.layers.9"}, 1, "model.layers.0"},
      {{"run", llama, "--prompt-ids", "1", "--skip-pass", "fuse"}, 1, "the passes are mark, canonicalize"},
      {{"inspect", llama, "--dump-passes", scratch / "ok.json"}, 1, "cannot be made"},
      {{"bench", llama, "--prompt", "0", "--gen", "0"}, 2, "nothing to measure"},
      {{"bench", llama, "--prompt", "64", "--gen", "1000"}, 1, "--gen 1000 do not fit"},
      {{"eval", llama, "--text", scratch / "short.txt", "--max-tokens", "-1"}, 2, "--max-tokens"},
  };
  for (const BadInput& bad : table) {
    std::string command;
    for (const std::string& a : bad.arguments) command += " " + a.substr(0, 60);
    SCOPED_TRACE(command);
    const Outcome o = headrace(bad.arguments, bad.input);
    EXPECT_EQ(o.code, bad.code) << o.err;
    EXPECT_THAT(o.err, HasSubstr(bad.message));
    EXPECT_THAT(o.err, StartsWith("headrace: error: "));
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
    EXPECT_EQ(o.out, "");
  }
  EXPECT_THAT(scratch.names(), Not(testing::Contains("e")));
}

TEST(Program, SaysItsVersionAndHelps) {
  EXPECT_THAT(headrace({"--version"}).out, StartsWith("headrace "));
  for (const char* verb : {"run", "chat", "build", "inspect", "tokenize", "render", "eval", "bench", "embed", "doctor"}) {
    const Outcome o = headrace({verb, "--help"});
    EXPECT_EQ(o.code, 0);
    EXPECT_THAT(o.out, HasSubstr("Usage"));
    EXPECT_THAT(o.out, Not(HasSubstr("\n\n\n")));
    EXPECT_EQ(headrace({"help", verb}).out, o.out);
  }
  EXPECT_THAT(headrace({"run", "--help"}).out, HasSubstr("--random-weights [=SEED]"));
}

TEST(Program, WhatCannotBeWrittenIsAFailureWhateverElseIsClosed) {
  const TempFolder scratch;
  const std::string run = fmt::format("'{}' run '{}' --prompt-ids 1,2,3 -n 3 2>'{}' ", HEADRACE_PROGRAM, golden("llama"), scratch / "err");
  for (const char* streams : {">&-", "<&- >&-", ">/dev/full"}) {
    const int status = std::system((run + streams).c_str());
    EXPECT_EQ(WEXITSTATUS(status), 1) << streams;
    EXPECT_THAT(read_text(scratch / "err"), HasSubstr("standard output cannot be written")) << streams;
  }
  EXPECT_EQ(std::system((run + "2>&- >'" + (scratch / "out") + "'").c_str()), 0);
}

TEST(Program, AFileLargerThanMayBeIsAnErrorAndLeavesNothing) {
  const TempFolder scratch;
  const std::string build = fmt::format("ulimit -f 8; '{}' build '{}' -o '{}' 2>'{}' >/dev/null", HEADRACE_PROGRAM, golden("llama"),
                                        scratch / "engine", scratch / "err");
  const int status = std::system(build.c_str());
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_THAT(read_text(scratch / "err"), HasSubstr("engine: cannot be written"));
  EXPECT_EQ(scratch.names(), std::vector<std::string>{"err"});
}

TEST(Program, WithoutArgumentsShowsItsHelpAndFails) {
  const Outcome o = headrace({});
  EXPECT_EQ(o.code, 2);
  EXPECT_EQ(o.out, "");
  EXPECT_EQ(o.err, headrace({"--help"}).out);
  EXPECT_EQ(headrace({"help"}).out, o.err);
}

}  // namespace
}  // namespace headrace
