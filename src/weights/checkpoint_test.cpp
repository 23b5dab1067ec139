#include "weights/checkpoint.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>

#include "weights/gguf.h"
#include "weights/gguf_config.h"
#include "weights/hf_config.h"
#include "weights/safetensors_writer.h"
#include "weights/tensor_names.h"
#include "weights/test_files.h"

namespace headrace {
namespace {

namespace fs = std::filesystem;
using test::error_of;
using test::GgufBuilder;
using test::raw;
using testing::HasSubstr;

Json canonical(const char* text) { return canonical_config(parse_json(text, "x"), "config.json"); }

// ---------------------------------------------------------------------------------------------------------------- config.json

TEST(CanonicalConfig, BothSpellingsOfRopeBecomeOne) {
  const Json old_spelling =
      canonical(R"({"rope_theta": 5e5, "rope_scaling": {"type": "yarn", "factor": 4}, "torch_dtype": "bfloat16", "num_local_experts": 8})");
  const Json new_spelling = canonical(
      R"({"rope_parameters": {"rope_theta": 5e5, "rope_type": "yarn", "factor": 4}, "dtype": "torch.bfloat16", "num_experts": 8})");
  EXPECT_EQ(old_spelling, new_spelling);
  EXPECT_EQ(old_spelling["rope_scaling"]["rope_type"], "yarn");
  EXPECT_EQ(old_spelling["dtype"], "bfloat16");
  EXPECT_EQ(canonical(R"({"rope_parameters": {"rope_theta": 1e4, "rope_type": "default", "partial_rotary_factor": 0.5}})"),
            canonical(R"({"rope_theta": 1e4, "partial_rotary_factor": 0.5, "rope_scaling": {"type": "default"}})"));
  EXPECT_EQ(canonical(R"({"rope_scaling": {"type": "su", "long_factor": [1]}})")["rope_scaling"]["rope_type"], "longrope");
}

TEST(CanonicalConfig, OurOwnKeysDoNotComeFromAFolder) {
  EXPECT_EQ(canonical(R"({"rope_interleaved": true, "rope_dimensions": 2, "hidden_size": 8})"), canonical(R"({"hidden_size": 8})"));
}

TEST(CanonicalConfig, RopeScalingWinsOverRopeParametersUnlessItSaysNothing) {
  const char* both =
      R"({"rope_parameters": {"rope_theta": 300.0, "rope_type": "default"}, "rope_scaling": {"type": "linear", "factor": 3}})";
  EXPECT_EQ(canonical(both), canonical(R"({"rope_scaling": {"rope_type": "linear", "factor": 3}})"));
  EXPECT_EQ(canonical(R"({"rope_parameters": {"rope_theta": 300.0}, "rope_scaling": null})")["rope_theta"], 300.0);
}

TEST(CanonicalConfig, RopePerLayerTypeIsLifted) {
  EXPECT_EQ(canonical(R"({"rope_parameters": {"full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6},
                                              "sliding_attention": {"rope_type": "default", "rope_theta": 1e4}}})"),
            canonical(R"({"rope_theta": 1e6, "rope_local_base_freq": 1e4, "rope_scaling": {"rope_type": "linear", "factor": 8.0}})"));
}

TEST(CanonicalConfig, InnerTextModelsAndSpeltFloatsAreBroughtIntoShapeToo) {
  const Json config =
      canonical(R"({"text_config": {"torch_dtype": "float16"}, "limit": [0.0, {"__float__": "Infinity"}], "odd": {"__float__": 3}})");
  EXPECT_EQ(config["text_config"]["dtype"], "float16");
  EXPECT_GT(config["limit"][1].get<double>(), 1e300);
  EXPECT_TRUE(config["odd"].is_null());
  EXPECT_THAT(error_of([] { canonical("[1]"); }), HasSubstr("wanted a JSON object"));
}

TEST(GenerationDefaults, GenerationConfigWinsAndEndsAreAList) {
  const Json config = {{"eos_token_id", 2}, {"bos_token_id", 1}};
  EXPECT_EQ(generation_defaults(config, nullptr, "x"), Json({{"eos_token_ids", {2}}, {"bos_token_id", 1}}));
  const Json generation = {{"eos_token_id", {7, 8}}, {"temperature", 0.6}, {"bos_token_id", nullptr}};
  EXPECT_EQ(generation_defaults(config, generation, "x"), Json({{"eos_token_ids", {7, 8}}, {"temperature", 0.6}, {"bos_token_id", 1}}));
  EXPECT_EQ(generation_defaults(Json::object(), nullptr, "x")["eos_token_ids"], Json::array());
  EXPECT_THAT(error_of([] { generation_defaults({{"eos_token_id", "</s>"}}, nullptr, "x"); }), HasSubstr("eos_token_id holds \"</s>\""));
}

TEST(Pooling, OfSentenceTransformersIsFound) {
  const test::TempFolder folder;
  EXPECT_TRUE(read_pooling(folder.path()).is_null());
  folder.write(
      "modules.json",
      R"([{"type": "sentence_transformers.models.Transformer", "path": ""}, {"type": "sentence_transformers.models.Pooling", "path": "1_Pooling"},
                                   {"type": "sentence_transformers.models.Normalize", "path": "2_Normalize"}])");
  folder.write("1_Pooling/config.json", R"({"pooling_mode_cls_token": false, "pooling_mode_mean_tokens": true})");
  folder.write("sentence_bert_config.json", R"({"max_seq_length": 256})");
  EXPECT_EQ(read_pooling(folder.path()), Json({{"mode", "mean"}, {"normalize", true}, {"max_seq_length", 256}}));
  folder.write("modules.json", R"([{"type": "x.Pooling", "path": "../1_Pooling"}])");
  EXPECT_THAT(error_of([&] { read_pooling(folder.path()); }), HasSubstr("no plain folder name"));
}

// ---------------------------------------------------------------------------------------------------------------- names

TEST(TensorNames, HuggingFaceNamesGetTheirPrefix) {
  EXPECT_EQ(
      hf_tensor_names("gpt2", {"wte.weight", "h.0.ln_1.bias", "lm_head.weight"}, "x"),
      (TensorNames{
          {"transformer.wte.weight", "wte.weight"}, {"transformer.h.0.ln_1.bias", "h.0.ln_1.bias"}, {"lm_head.weight", "lm_head.weight"}}));
  EXPECT_EQ(hf_tensor_names("bert", {"embeddings.LayerNorm.gamma", "embeddings.LayerNorm.beta"}, "x"),
            (TensorNames{{"bert.embeddings.LayerNorm.weight", "embeddings.LayerNorm.gamma"},
                         {"bert.embeddings.LayerNorm.bias", "embeddings.LayerNorm.beta"}}));
  EXPECT_EQ(hf_tensor_names("bert", {"bert.pooler.dense.bias", "cls.predictions.bias"}, "x"),
            (TensorNames{{"bert.pooler.dense.bias", "bert.pooler.dense.bias"}, {"cls.predictions.bias", "cls.predictions.bias"}}));
  EXPECT_EQ(hf_tensor_names("something_new", {"norm.weight"}, "x"), (TensorNames{{"norm.weight", "norm.weight"}}));
  EXPECT_THAT(error_of([] { hf_tensor_names("bert", {"bert.LayerNorm.gamma", "bert.LayerNorm.weight"}, "x"); }), HasSubstr("are both"));
}

TEST(TensorNames, GgufNamesAreTranslated) {
  const auto one = [](const char* architecture, const char* name) { return gguf_tensor_names(architecture, {name}, "x").begin()->first; };
  EXPECT_EQ(one("llama", "token_embd.weight"), "model.embed_tokens.weight");
  EXPECT_EQ(one("llama", "output_norm.weight"), "model.norm.weight");
  EXPECT_EQ(one("llama", "output.weight"), "lm_head.weight");
  EXPECT_EQ(one("llama", "rope_freqs.weight"), "rope_freqs.weight");
  EXPECT_EQ(one("llama", "blk.31.ffn_norm.weight"), "model.layers.31.post_attention_layernorm.weight");
  EXPECT_EQ(one("qwen2", "blk.0.attn_q.bias"), "model.layers.0.self_attn.q_proj.bias");
  EXPECT_EQ(one("qwen3", "blk.0.attn_k_norm.weight"), "model.layers.0.self_attn.k_norm.weight");
  EXPECT_EQ(one("gemma3", "blk.2.ffn_norm.weight"), "model.layers.2.pre_feedforward_layernorm.weight");
  EXPECT_EQ(one("gemma3", "blk.2.post_ffw_norm.weight"), "model.layers.2.post_feedforward_layernorm.weight");
  EXPECT_EQ(one("gpt2", "blk.1.attn_qkv.bias"), "transformer.h.1.attn.c_attn.bias");
  EXPECT_EQ(one("gpt2", "position_embd.weight"), "transformer.wpe.weight");
  EXPECT_EQ(one("bert", "token_types.weight"), "bert.embeddings.token_type_embeddings.weight");
  EXPECT_EQ(one("bert", "blk.1.layer_output_norm.bias"), "bert.encoder.layer.1.output.LayerNorm.bias");
  for (const char* odd :
       {"blk.", "blk.1", "blk.x.attn_q.weight", "blk..attn_q.weight", "blk.1.attn_q", "blk.1.unheard_of.weight", "", ".weight"})
    EXPECT_EQ(one("llama", odd), odd);
  EXPECT_EQ(one("unheard_of", "blk.0.attn_q.weight"), "blk.0.attn_q.weight");
}

// ---------------------------------------------------------------------------------------------------------------- GGUF

Json config_of(const GgufBuilder& builder) {
  const std::string bytes = builder.file();
  return gguf_config(GgufFile::parse(std::as_bytes(std::span(bytes)), "x.gguf"));
}

GgufBuilder llama(const std::string& a = "llama") {
  GgufBuilder b;
  b.string("general.architecture", a).u32(a + ".embedding_length", 8).u32(a + ".block_count", 2).u32(a + ".feed_forward_length", 16);
  b.u32(a + ".attention.head_count", 2).u32(a + ".context_length", 64).f32(a + ".attention.layer_norm_rms_epsilon", 1e-5f);
  return b;
}

TEST(GgufConfig, OfALlamaReadsLikeItsConfigJson) {
  EXPECT_EQ(
      config_of(llama()
                    .u32("llama.attention.head_count_kv", 1)
                    .f32("llama.rope.freq_base", 5e5f)
                    .f32_tensor("token_embd.weight", {8, 40})
                    .f32_tensor("output.weight", {8, 40})),
      parse_json(
          R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 8, "num_hidden_layers": 2, "intermediate_size": 16,
              "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 4, "max_position_embeddings": 64, "rms_norm_eps": 1e-05, "rope_theta": 500000.0,
              "rope_scaling": null, "vocab_size": 40, "tie_word_embeddings": false, "hidden_act": "silu", "attention_bias": false, "mlp_bias": false,
              "rope_interleaved": true})",
          "x"));
}

TEST(GgufConfig, VariantsOfLlamaAreSeen) {
  EXPECT_EQ(config_of(llama())["tie_word_embeddings"], true);
  EXPECT_EQ(config_of(llama())["num_key_value_heads"], 2);
  EXPECT_EQ(config_of(llama().u32("llama.expert_count", 8))["model_type"], "mixtral");
  EXPECT_EQ(config_of(llama().f32_tensor("blk.0.attn_q.bias", {8}))["attention_bias"], true);
  EXPECT_FALSE(config_of(llama("qwen2")).contains("rope_interleaved"));
  EXPECT_EQ(config_of(llama().u32("llama.rope.dimension_count", 2))["rope_dimensions"], 2);
  EXPECT_EQ(config_of(llama().string("llama.rope.scaling.type", "linear").f32("llama.rope.scaling.factor", 4))["rope_scaling"],
            Json({{"rope_type", "linear"}, {"factor", 4.0}}));
  EXPECT_EQ(config_of(llama("unheard_of"))["model_type"], "unheard_of");
  GgufBuilder per_layer;
  per_layer.string("general.architecture", "llama").i32s("llama.attention.head_count", {4, 4}).i32s("llama.feed_forward_length", {8, 16});
  EXPECT_EQ(config_of(per_layer)["num_attention_heads"], 4);
  EXPECT_EQ(config_of(per_layer)["intermediate_size"], Json({8, 16}));
  EXPECT_THAT(error_of([] { config_of(GgufBuilder()); }), HasSubstr("'general.architecture' is missing"));
}

TEST(GgufConfig, RopeScalingIsReadAsTheFormatMeansIt) {
  const auto scaling = [](const GgufBuilder& builder) { return config_of(builder)["rope_scaling"]; };
  const Json linear = {{"rope_type", "linear"}, {"factor", 4.0}};
  EXPECT_EQ(scaling(llama().f32("llama.rope.scaling.factor", 4)), linear) << "a factor without a kind";
  EXPECT_EQ(scaling(llama().f32("llama.rope.scale_linear", 4)), linear);
  EXPECT_EQ(scaling(llama().string("llama.rope.scaling.type", "linear").f32("llama.rope.scale_linear", 4)), linear);
  EXPECT_EQ(scaling(llama().string("llama.rope.scaling.type", "none").f32("llama.rope.scaling.factor", 4)), nullptr);
  EXPECT_EQ(scaling(llama().f32("llama.rope.scaling.factor", 1)), nullptr);
  const auto yarn = [] { return llama().string("llama.rope.scaling.type", "yarn").f32("llama.rope.scaling.factor", 1); };
  EXPECT_EQ(scaling(yarn()), Json({{"rope_type", "yarn"}, {"factor", 1.0}}));
  EXPECT_EQ(scaling(yarn().f32("llama.rope.scaling.attn_factor", 0.5f).f32("llama.rope.scaling.yarn_attn_factor", 0.5f)),
            Json({{"rope_type", "yarn"}, {"factor", 1.0}, {"attention_factor", 0.25}}));
  const Json config = config_of(llama()
                                    .string("llama.rope.scaling.type", "longrope")
                                    .f32("llama.rope.scaling.attn_factor", 1.25f)
                                    .u32("llama.rope.scaling.original_context_length", 32)
                                    .f32_tensor("rope_factors_short.weight", {2}));
  EXPECT_EQ(config["rope_scaling"],
            Json({{"rope_type", "longrope"}, {"attention_factor", 1.25}, {"original_max_position_embeddings", 32}}));
  EXPECT_EQ(config["rope_factors_are_tensors"], true);
}

TEST(GgufConfig, OtherArchitecturesUseTheirOwnKeys) {
  GgufBuilder gpt2;
  gpt2.string("general.architecture", "gpt2")
      .u32("gpt2.embedding_length", 8)
      .u32("gpt2.block_count", 3)
      .f32_tensor("position_embd.weight", {8, 77})
      .f32("gpt2.attention.layer_norm_epsilon", 1e-5f);
  EXPECT_EQ(config_of(gpt2)["n_layer"], 3);
  EXPECT_EQ(config_of(gpt2)["n_positions"], 77) << "where no context length is given";
  EXPECT_EQ(config_of(gpt2)["linear_weights_out_in"], true);
  EXPECT_EQ(config_of(gpt2)["layer_norm_epsilon"], 1e-5);
  GgufBuilder bert;
  bert.string("general.architecture", "bert")
      .u32("bert.block_count", 3)
      .f32_tensor("token_types.weight", {8, 2})
      .u32("bert.pooling_type", 2);
  EXPECT_EQ(config_of(bert)["type_vocab_size"], 2);
  EXPECT_EQ(config_of(bert)["hidden_act"], "gelu");
  const Json gemma = config_of(llama("gemma3").u32("gemma3.attention.key_length", 256).u32("gemma3.attention.sliding_window", 512));
  EXPECT_EQ(gemma["model_type"], "gemma3_text");
  EXPECT_EQ(gemma["query_pre_attn_scalar"], 256);
  EXPECT_EQ(gemma["rope_local_base_freq"], 10000.0);
  EXPECT_EQ(gemma["layer_types"], Json({"sliding_attention", "sliding_attention"}));
}

TEST(GgufConfig, ReversedOrHostileNumbersDoNotCrash) {
  GgufBuilder b;
  b.string("general.architecture", "gemma3")
      .u32("gemma3.block_count", ~0u)
      .u32("gemma3.attention.head_count", 0)
      .u32("gemma3.embedding_length", 1);
  b.u32("gemma3.attention.sliding_window_pattern", 0).f32("gemma3.rope.freq_base", NAN).f32("gemma3.rope.scaling.factor", INFINITY);
  EXPECT_NO_THROW(config_of(b));
}

TEST(GgufGeneration, EndOfTurnTokensAreFoundByText) {
  const std::string bytes = llama()
                                .strings("tokenizer.ggml.tokens", {"<|im_end|>", "a", "<end_of_turn>", "</s>"})
                                .i32s("tokenizer.ggml.token_type", {3, 1, 1, 3})
                                .u32("tokenizer.ggml.eos_token_id", 3)
                                .u32("tokenizer.ggml.bos_token_id", 1)
                                .file();
  EXPECT_EQ(gguf_generation_defaults(GgufFile::parse(std::as_bytes(std::span(bytes)), "x")),
            Json({{"eos_token_ids", {3, 0}}, {"bos_token_id", 1}}));
}

// ---------------------------------------------------------------------------------------------------------------- whole checkpoints

TEST(Checkpoint, OfAFolderHasEverything) {
  const test::TempFolder folder;
  folder.write("config.json", R"({"model_type": "gpt2", "torch_dtype": "float32"})");
  folder.write("tokenizer.json", "{}");
  folder.write("qwen.tiktoken", "x");
  folder.write("README.md", "no asset");
  Checkpoint without = open_checkpoint(folder.path());
  EXPECT_EQ(without.weights, nullptr);
  EXPECT_THAT(error_of([&] { without.require_weights(); }), HasSubstr("holds no weights"));
  folder.write("pytorch_model.bin", "x");
  EXPECT_THAT(error_of([&] { open_checkpoint(folder.path()).require_weights(); }),
              HasSubstr("PyTorch pickles such as 'pytorch_model.bin'"));

  const HostTensor weight(DType::kF32, {2});
  write_safetensors(folder / "model.safetensors", {{"ln_f.weight", weight}});
  folder.write("generation_config.json", R"({"eos_token_id": 5})");
  const Checkpoint checkpoint = open_checkpoint(folder.path());
  EXPECT_EQ(checkpoint.config["dtype"], "float32");
  EXPECT_EQ(checkpoint.generation["eos_token_ids"], Json({5}));
  EXPECT_EQ(checkpoint.require_weights().names(), std::vector<std::string>{"transformer.ln_f.weight"});
  EXPECT_EQ(checkpoint_weights(folder.path())->names(), std::vector<std::string>{"transformer.ln_f.weight"});
  EXPECT_THAT(error_of([&] { checkpoint_weights(folder / "config.json"); }), HasSubstr("without weights"));
  for (const std::string& path : {folder.path(), folder / "model.safetensors"})
    EXPECT_EQ(file_weights(path)->names(), std::vector<std::string>{"ln_f.weight"}) << "as the file has it";
  ASSERT_EQ(checkpoint.text.files.size(), 2u);
  EXPECT_EQ(checkpoint.text.find("tokenizer.json"), "{}");
  EXPECT_EQ(open_checkpoint(folder / "config.json").weights, nullptr);
}

TEST(TextFiles, AreNamedForTheFolderThatHoldsThem) {
  const test::TempFolder folder;
  const std::string file = folder.write("tiny-llama3/vocab.tiktoken", "YQ== 0\n");
  for (const std::string& path : {folder / "tiny-llama3", folder / "tiny-llama3/", file})
    EXPECT_EQ(read_text_files(path).name, "tiny-llama3");
  EXPECT_EQ(read_text_files(folder / "tiny-llama3").find("vocab.tiktoken"), "YQ== 0\n");
  EXPECT_FALSE(read_text_files(folder / "tiny-llama3").find("tokenizer.json"));
}

TEST(Checkpoint, OfAGgufHasItsVocabulary) {
  const test::TempFolder folder;
  const std::string path =
      folder.write("m.gguf", llama().strings("tokenizer.ggml.tokens", {"a"}).f32_tensor("output_norm.weight", {8}, 3).file());
  for (const std::string& either : {path, folder.path()}) {
    const Checkpoint checkpoint = open_checkpoint(either);
    EXPECT_EQ(checkpoint.format, Checkpoint::Format::kGguf);
    EXPECT_EQ(checkpoint.require_weights().read("model.norm.weight").as<float>()[7], 3.0f);
    EXPECT_EQ(file_weights(path)->read("output_norm.weight").as<float>()[7], 3.0f);
    const std::string_view vocabulary = checkpoint.text.find(kGgufVocabulary).value();
    EXPECT_EQ(GgufFile::parse(std::as_bytes(std::span(vocabulary)), "x").strings("tokenizer.ggml.tokens"),
              std::vector<std::string_view>{"a"});
    EXPECT_EQ(read_text_files(either).files.size(), 1u);
  }
  EXPECT_TRUE(open_checkpoint(folder.write("tokenless.gguf", llama().f32_tensor("output_norm.weight", {8}).file())).text.empty());
  folder.write("n.gguf", llama().file());
  EXPECT_THAT(error_of([&] { open_checkpoint(folder.path()); }), HasSubstr("holds several models"));
  EXPECT_THAT(error_of([&] { open_checkpoint(folder / "n.gguf").require_weights(); }), HasSubstr("no weights"));
}

TEST(Checkpoint, WhatIsNoneIsRefused) {
  const test::TempFolder folder;
  EXPECT_THAT(error_of([&] { file_weights(folder / "absent"); }), HasSubstr("does not exist"));
  EXPECT_THAT(error_of([&] { file_weights(folder.path()); }), HasSubstr("holds neither model.safetensors"));
  EXPECT_THAT(error_of([&] { open_checkpoint(folder / "absent"); }), HasSubstr("does not exist"));
  EXPECT_THAT(error_of([&] { open_checkpoint(std::string(5000, 'x')); }), HasSubstr("does not exist"));
  EXPECT_TRUE(read_text_files(std::string(5000, 'x')).empty());
  EXPECT_THAT(error_of([&] { open_checkpoint(folder.path()); }), HasSubstr("neither a config.json nor a .gguf"));
  EXPECT_THAT(error_of([&] { open_checkpoint(folder.write("x.txt", "x")); }), HasSubstr("is no model"));
  EXPECT_THAT(error_of([&] { open_checkpoint(folder.write("x.gguf", "GGU")); }), HasSubstr("is no GGUF file"));
  EXPECT_THAT(error_of([&] { open_checkpoint(folder.write("config.json", "{")); }), HasSubstr("not valid JSON"));
  fs::remove(folder / "config.json");
  for (const char* name : {"pipe", "pipe.gguf", "config.json"}) {  // opened, it would wait for a writer for ever
    ASSERT_EQ(::mkfifo((folder / name).c_str(), 0600), 0);
    EXPECT_NE(error_of([&] { open_checkpoint(folder / name); }), "") << name;
  }
  EXPECT_THAT(error_of([&] { open_checkpoint(folder.path()); }), HasSubstr("not a regular file"));
}

// Every golden checkpoint and every published configuration that is at hand.
TEST(Checkpoint, SharedCheckpointsOpen) {
  const fs::path shared = test::shared_data();
  if (shared.empty() || !fs::exists(shared / "golden")) GTEST_SKIP() << "no golden checkpoints at " << shared;
  int opened = 0;
  for (const fs::path& root :
       {shared / "golden", shared / "golden/quantized", shared / "golden/gguf", shared / "conformance/configs", shared / "models"}) {
    for (const fs::directory_entry& entry : fs::directory_iterator(root)) {
      const bool is_model = entry.is_directory() ? fs::exists(entry.path() / "config.json")
                                                 : entry.path().extension() == ".gguf" || entry.path().string().ends_with("config.json");
      if (!is_model) continue;
      SCOPED_TRACE(entry.path().string());
      const Checkpoint checkpoint = open_checkpoint(entry.path().string());
      EXPECT_TRUE(checkpoint.config.is_object());
      EXPECT_TRUE(!checkpoint.weights || !checkpoint.weights->names().empty());
      ++opened;
    }
  }
  EXPECT_GT(opened, 100);
}

}  // namespace
}  // namespace headrace
