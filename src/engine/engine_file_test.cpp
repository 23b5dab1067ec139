#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/json.h"
#include "core/test_support.h"
#include "engine/linked_weights.h"
#include "headrace/engine.h"
#include "headrace/functional.h"
#include "weights/file_weights.h"
#include "weights/safetensors.h"
#include "weights/safetensors_writer.h"

namespace headrace {
namespace {

namespace fs = std::filesystem;
using test::error_of;

class EngineFile : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_ / name; }

  Engine make_engine(std::shared_ptr<const WeightSource> weights) const {
    Engine engine{.origin = "test",
                  .program = Graph::parse("graph g {\n input %x : f32[n, 32]\n param %w : q8_0[4, 32]\n param %b : f32[4]\n"
                                          " %y = linear(%x, %w, %b)\n return %y as \"logits\"\n}",
                                          builtin_ops())};
    engine.vocab_size = 4, engine.max_positions = 128;
    engine.config = R"({"model_type":"test"})";
    auto owner = std::make_shared<std::string>("{\"hello\": 1}");
    engine.text = {.name = "tiny-llama3", .files = {{"tokenizer.json", {*owner, owner}}}};
    engine.weights = std::move(weights);
    return engine;
  }
  static std::shared_ptr<WeightSource> weights() {
    HostTensor w(DType::kQ8_0, {4, 32}), b(DType::kF32, {4});
    for (int i = 0; i < 4 * 34; ++i) w.as<uint8_t>()[i] = uint8_t(i * 3);
    for (int i = 0; i < 4; ++i) b.as<float>()[i] = float(i);
    return memory_weights({{"w", w}, {"b", b}});
  }
  std::string bytes_of_file(const std::string& name) const {
    std::string bytes(fs::file_size(path(name)), '\0');
    std::ifstream(path(name), std::ios::binary).read(bytes.data(), std::streamsize(bytes.size()));
    return bytes;
  }
  static std::string bytes_of(const Tensor& t) { return {t.as<char>(), size_t(t.bytes())}; }

  test::TempFolder folder_;
};

TEST_F(EngineFile, RoundTripsWithWeightsEmbedded) {
  const Engine engine = make_engine(weights());
  write_engine(engine, path("a.engine"), WeightsMode::kEmbed);
  EXPECT_TRUE(is_engine_file(path("a.engine")));
  const Engine back = read_engine(path("a.engine"));
  EXPECT_EQ(back.program.to_text(), engine.program.to_text());
  EXPECT_EQ(back.config, engine.config);
  EXPECT_EQ(back.max_positions, 128);
  EXPECT_EQ(back.text.find("tokenizer.json"), "{\"hello\": 1}");
  for (const char* name : {"w", "b"}) {
    EXPECT_EQ(back.weights->find(name)->dtype, engine.weights->find(name)->dtype);
    EXPECT_EQ(bytes_of(back.weights->read(name)), bytes_of(engine.weights->read(name))) << name;
  }
  EXPECT_TRUE(SafetensorsFile::open(path("a.engine")).find("b")) << "any safetensors reader finds the weights";
}

TEST_F(EngineFile, TheFoldersNameIsKeptOnlyWhereItMayTellTheTokenizer) {
  Engine engine = make_engine(weights());
  for (const auto& [file, kept] :
       std::map<std::string, bool>{{"tokenizer.json", false}, {"vocabulary.gguf", false}, {"tokenizer.model", true}}) {
    std::string written[2];
    for (const int i : {0, 1}) {
      engine.text = {.name = i ? "llama3" : "elsewhere", .files = {{file, {"{}", nullptr}}}};
      write_engine(engine, path("a.engine"));
      written[i] = bytes_of_file("a.engine");
      EXPECT_EQ(read_engine(path("a.engine")).text.name == engine.text.name, kept) << file;
    }
    EXPECT_EQ(written[0] == written[1], !kept) << file;
  }
}

TEST_F(EngineFile, WeightsThatAreNotWantedAreNotLookedAt) {
  HostTensor w(DType::kF32, {4, 32});
  write_safetensors(path("model.safetensors"), {{"w", w.view()}});
  Engine engine = make_engine(folder_weights(folder_.path()));
  engine.program =
      Graph::parse("graph g {\n input %x : f32[n, 32]\n param %w : f32[4, 32]\n %y = linear(%x, %w)\n return %y\n}", builtin_ops());
  write_engine(engine, path("a.engine"), WeightsMode::kLink);
  fs::remove(path("model.safetensors"));
  EXPECT_NE(error_of([&] { read_engine(path("a.engine")); }).find("is gone"), std::string::npos);
  const Engine read = read_engine(path("a.engine"), {.weights = false});
  EXPECT_EQ(read.weights, nullptr);
  EXPECT_EQ(read.program.to_text(), engine.program.to_text());
}

TEST_F(EngineFile, WithoutWeightsItIsSmallAndSaysSo) {
  write_engine(make_engine(weights()), path("a.engine"), WeightsMode::kNone);
  EXPECT_EQ(read_engine(path("a.engine")).weights, nullptr);
}

TEST_F(EngineFile, LinkedWeightsAreReadInPlaceAndAChangedFileIsNoticed) {
  HostTensor w(DType::kF32, {4, 32}), b(DType::kF32, {4});
  for (int i = 0; i < 128; ++i) w.as<float>()[i] = float(i);
  write_safetensors(path("model.safetensors"), {{"w", w.view()}, {"b", b.view()}});
  Engine engine = make_engine(folder_weights(folder_.path()));
  engine.program =
      Graph::parse("graph g {\n input %x : f32[n, 32]\n param %w : f32[4, 32]\n %y = linear(%x, %w)\n return %y\n}", builtin_ops());
  write_engine(engine, path("a.engine"), WeightsMode::kLink);
  EXPECT_EQ(bytes_of(read_engine(path("a.engine")).weights->read("w")), bytes_of(w.view()));
  fs::create_directories(folder_ / "moved");
  fs::rename(path("a.engine"), path("moved/a.engine"));
  fs::rename(path("model.safetensors"), path("moved/model.safetensors"));
  EXPECT_EQ(bytes_of(read_engine(path("moved/a.engine")).weights->read("w")), bytes_of(w.view())) << "both moved together";
  w.as<float>()[3] = -1;
  write_safetensors(path("moved/model.safetensors"), {{"w", w.view()}, {"b", b.view()}});
  EXPECT_NE(error_of([&] { read_engine(path("moved/a.engine")); }).find("not the file that the engine was built from"), std::string::npos);
  fs::remove(path("moved/model.safetensors"));
  EXPECT_NE(error_of([&] { read_engine(path("moved/a.engine")); }).find("is gone"), std::string::npos);
}

TEST_F(EngineFile, AFingerprintSeesTheBeginningTheEndAndPagesBetweenThem) {
  const std::string whole(1 << 20, 'x');
  folder_.write("whole", whole);
  const std::string fingerprint = file_fingerprint(path("whole"));
  folder_.write("copy", whole);
  EXPECT_EQ(file_fingerprint(path("copy")), fingerprint);
  for (size_t at : {size_t{0}, whole.size() / 2, whole.size() - 1}) {
    std::string changed = whole;
    changed[at] = 'y';
    folder_.write("changed", changed);
    EXPECT_NE(file_fingerprint(path("changed")), fingerprint) << at;
  }
  folder_.write("longer", whole + "x");
  EXPECT_NE(file_fingerprint(path("longer")), fingerprint);
}

TEST_F(EngineFile, WeightsFromMemoryCannotBeLinkedAndNothingIsLeftBehind) {
  EXPECT_NE(error_of([&] { write_engine(make_engine(weights()), path("a.engine"), WeightsMode::kLink); }).find("cannot be linked"),
            std::string::npos);
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(EngineFile, DamageIsAnErrorWhereverItIs) {
  write_engine(make_engine(weights()), path("a.engine"), WeightsMode::kEmbed);
  std::string bytes = bytes_of_file("a.engine");
  const auto reads = [&](const std::string& content) {
    std::ofstream(path("b.engine"), std::ios::binary | std::ios::trunc) << content;
    try {
      read_engine(path("b.engine"));
      return true;
    } catch (const Error&) {
      return false;
    }
  };
  EXPECT_TRUE(reads(bytes));
  EXPECT_FALSE(reads(bytes.substr(0, 100)));
  EXPECT_TRUE(is_engine_file(path("b.engine"))) << "read as an engine, so that the error says that it is cut short";
  for (size_t cut : {size_t{0}, size_t{7}, size_t{100}, bytes.size() - 1}) EXPECT_FALSE(reads(bytes.substr(0, cut))) << cut;
  const size_t header = 8 + size_t(*reinterpret_cast<const uint64_t*>(bytes.data()));
  int refused = 0;
  for (size_t at = 8; at < header; at += 7) {  // any error will do, but no crash
    std::string broken = bytes;
    broken[at] = char(broken[at] ^ 1);
    refused += !reads(broken);
  }
  EXPECT_GT(refused, 10);
}

TEST_F(EngineFile, SizesThatTheStoredBytesDoNotHaveAreRefused) {
  write_engine(make_engine(weights()), path("a.engine"), WeightsMode::kEmbed);
  std::string bytes = bytes_of_file("a.engine");
  const size_t sizes = bytes.find("[4,32]");
  ASSERT_NE(sizes, std::string::npos);
  bytes.replace(sizes, 6, "[8,32]");
  folder_.write("b.engine", bytes);
  EXPECT_NE(error_of([&] { read_engine(path("b.engine")); }).find("weight 'w': has 136 bytes, 272 are wanted"), std::string::npos);
}

TEST_F(EngineFile, CutShortItIsStillKnownForAnEngine) {
  write_engine(make_engine(weights()), path("a.engine"), WeightsMode::kEmbed);
  fs::resize_file(path("a.engine"), fs::file_size(path("a.engine")) - 1);
  EXPECT_TRUE(is_engine_file(path("a.engine")));
  EXPECT_NE(error_of([&] { read_engine(path("a.engine")); }).find("cut short"), std::string::npos);
  write_safetensors(path("b.safetensors"), {}, {{"format", "pt"}});
  EXPECT_FALSE(is_engine_file(path("b.safetensors")));
}

TEST_F(EngineFile, WeightsThatLieAskewAreRefused) {
  write_engine(make_engine(weights()), path("a.engine"), WeightsMode::kEmbed);
  std::string bytes = bytes_of_file("a.engine");
  bytes.insert(9, " ");  // a longer header moves all data by one byte
  ++bytes[0];
  std::ofstream(path("b.engine"), std::ios::binary) << bytes;
  EXPECT_TRUE(is_engine_file(path("b.engine")));
  const std::string error = error_of([&] { read_engine(path("b.engine")); });
  EXPECT_NE(error.find("can be read in place"), std::string::npos) << error;
}

TEST_F(EngineFile, StatesOfAnotherShapeThanTheCachesAreRefused) {
  for (const char* type : {"f32[4]", "f32[]", "f32[b, 2, 1, t, h]", "f32[b, 2, 9223372036854775807, t, 8]", "f32[b, 3, 1, t, 8]",
                           "i32[b, 2, 1, t, 8]", "f32[b, 2, 1, t, 0]"}) {
    Engine engine = make_engine(weights());
    engine.program = Graph::parse(fmt::format("graph g {{\n input %x : f32[n]\n state %kv : {}\n return %x\n}}", type), builtin_ops());
    write_engine(engine, path("a.engine"), WeightsMode::kNone);
    const std::string error = error_of([&] { read_engine(path("a.engine")); });
    EXPECT_NE(error.find("state 'kv'"), std::string::npos) << type << ": " << error;
    EXPECT_EQ(error.find(path("a.engine")), 0u) << "the file is named";
  }
}

TEST_F(EngineFile, AttentionIsGuidedByWhatTheRuntimeGivesAlone) {
  const std::string leaves =
      "graph g {\n input %tokens : i32[tokens]\n input %x : f32[tokens, 8]\n input %rows : f32[rows, 8]\n"
      " input %sequence_offsets : i32[sequences+1]\n input %context_lengths : i32[sequences]\n"
      " input %block_tables : i32[sequences, max_blocks]\n input %other : i32[sequences+1]\n"
      " state %kv : f32[num_blocks, 2, 1, block_tokens, 8]\n";
  const auto write = [&](const std::string& node) {
    Engine engine = make_engine(nullptr);
    engine.program = Graph::parse(leaves + " %y = " + node + " {heads=1, kv_heads=1, head_dim=8}\n return %y\n}", builtin_ops());
    write_engine(engine, path("a.engine"), WeightsMode::kNone);
  };
  const auto error_with = [&](const std::string& node) {
    write(node);
    return error_of([&] { read_engine(path("a.engine")); });
  };
  for (const char* right :
       {"attention(%x, %x, %x, %sequence_offsets)", "paged_attention(%x, %kv, %sequence_offsets, %context_lengths, %block_tables)"}) {
    write(right);
    EXPECT_NO_THROW(read_engine(path("a.engine"))) << right;
  }
  EXPECT_NE(error_with("attention(%x, %x, %x, %other)").find("'other', the input 'sequence_offsets' is wanted"), std::string::npos);
  EXPECT_NE(error_with("attention(%rows, %rows, %rows, %sequence_offsets)").find("as many as the program's tokens"), std::string::npos);
  EXPECT_NE(error_with("paged_attention(%rows, %kv, %sequence_offsets, %context_lengths, %block_tables)").find("queries"),
            std::string::npos);
  EXPECT_NE(error_with("paged_attention(%x, %kv, %other, %context_lengths, %block_tables)").find("operand 2"), std::string::npos);
}

TEST_F(EngineFile, WhatIsNoTextIsNotWritten) {
  Engine engine = make_engine(weights());
  engine.config = "{\"model_type\": \"\xff\"}";
  EXPECT_NE(error_of([&] { write_engine(engine, path("a.engine"), WeightsMode::kNone); }).find("a.engine: cannot be written"),
            std::string::npos);
  engine = make_engine(weights());
  engine.program = Graph::parse("graph g {\n input %\"\xff\" : f32[n]\n return %\"\xff\"\n}", builtin_ops());
  EXPECT_NE(error_of([&] { write_engine(engine, path("a.engine"), WeightsMode::kNone); }).find("a.engine: cannot be written"),
            std::string::npos);
  EXPECT_FALSE(fs::exists(path("a.engine")));
}

TEST_F(EngineFile, EveryErrorNamesTheFile) {
  const auto error_with = [&](const char* format, const char* engine, const char* program) {
    write_safetensors(path("a.engine"), {}, {{"headrace.format", format}, {"engine", engine}, {"program", program}});
    return error_of([&] { read_engine(path("a.engine")); });
  };
  for (const std::string& error :
       {error_with("x", "{}", "graph g {\n}"), error_with("1", "{", "graph g {\n}"), error_with("1", "{}", "graf")})
    EXPECT_EQ(error.find(path("a.engine")), 0u) << error;
}

TEST_F(EngineFile, ALaterFormatIsRefusedByName) {
  write_safetensors(path("a.engine"), {}, {{"headrace.format", "999"}, {"headrace.version", "9.0"}});
  const std::string error = error_of([&] { read_engine(path("a.engine")); });
  EXPECT_NE(error.find("format 999"), std::string::npos) << error;
  EXPECT_NE(error.find("9.0"), std::string::npos) << error;
}

}  // namespace
}  // namespace headrace
