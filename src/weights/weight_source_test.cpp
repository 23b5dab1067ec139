#include "weights/weight_source.h"

#include <gmock/gmock.h>

#include <cmath>

#include "core/blocks.h"
#include "weights/file_weights.h"
#include "weights/random_weights.h"
#include "weights/safetensors_writer.h"
#include "weights/test_files.h"

namespace headrace {
namespace {

using test::error_of;
using testing::HasSubstr;

HostTensor floats(std::initializer_list<float> values) {
  return HostTensor(DType::kF32, {int64_t(values.size())}, std::span<const float>(values.begin(), values.size()));
}

TEST(MemoryWeights, AreFoundUnderTheirOwnOrOtherNames) {
  const auto memory = memory_weights({{"a", floats({1, 2})}, {"b", floats({3})}});
  EXPECT_EQ(memory->find("a")->sizes, (Sizes{2}));
  EXPECT_FALSE(memory->find("c"));
  EXPECT_THAT(error_of([&] { memory->read("c"); }), HasSubstr("no tensor 'c'"));
  const auto renamed = renamed_weights(memory, {{"model.a", "a"}});
  EXPECT_EQ(renamed->names(), std::vector<std::string>{"model.a"});
  EXPECT_EQ(renamed->read("model.a").as<float>()[1], 2.0f);
  EXPECT_FALSE(renamed->find("b"));
}

TEST(CheckWeights, OneErrorListsEveryProblem) {
  const auto source = memory_weights(
      {{"right", floats({1})}, {"wide", floats({1, 2})}, {"stranger", floats({1})}, {"h.0.rotary_emb.inv_freq", floats({1})}});
  const std::vector<DeclaredWeight> declared = {{"right", {1}}, {"wide", {3}}, {"gone", {4, 5}}, {"right", {1}}};
  EXPECT_EQ(error_of([&] { check_weights(declared, *source); }),
            "weights in memory: 3 of its weights do not fit the model that its configuration describes\n"
            "  wide: the checkpoint has [2], the model wants [3]\n"
            "  gone: missing; the model wants [4, 5]\n"
            "  stranger: not a parameter of this model\n"
            "Is the configuration from a model of another size or kind, or is a file of the checkpoint missing?");
  const std::vector<DeclaredWeight> all = {{"right", {1}}, {"wide", {2}}, {"stranger", {1}}};
  EXPECT_NO_THROW(check_weights(all, *source));
}

TEST(CheckWeights, ATypeIsComparedWhereOneIsWanted) {
  const auto source = memory_weights({{"a", HostTensor(DType::kF16, {2})}, {"b", HostTensor(DType::kF16, {2})}});
  const std::vector<DeclaredWeight> declared = {{"a", {2}, DType::kBF16}, {"b", {2}, DType::kF16}, {"c", {3}, DType::kF32}};
  EXPECT_EQ(error_of([&] { check_weights(declared, *source, "the program", "Build it anew."); }),
            "weights in memory: 2 of its weights do not fit the program\n"
            "  a: the checkpoint has f16[2], the model wants bf16[2]\n"
            "  c: missing; the model wants f32[3]\n"
            "Build it anew.");
}

TEST(SafetensorsWeights, TensorsThatLieAskewAreCopied) {
  const test::TempFolder folder;
  // 58 bytes of header: the data begin at 66, which is no multiple of 4.
  const std::string header = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  folder.write("model.safetensors", test::safetensors(header + std::string(58 - header.size(), ' '), 8));
  const auto source = folder_weights(folder.path());
  const Tensor a = source->read("a");
  EXPECT_EQ(reinterpret_cast<uintptr_t>(a.data) % 4, 0u);
  EXPECT_EQ(a.as<uint32_t>()[1], 0x07060504u);
  EXPECT_FALSE(source->locate("a"));
  const std::shared_ptr<const void> owner = source->owner("a");
  ASSERT_NE(owner, nullptr);
  source->release("a");
  EXPECT_NE(source->read("a").data, a.data) << "somebody owns the first copy";
  EXPECT_EQ(a.as<uint32_t>()[1], 0x07060504u);
  EXPECT_EQ(source->read("a").as<uint32_t>()[0], 0x03020100u);
}

TEST(SafetensorsWeights, AnUnsupportedTypeFailsWhenItIsUsed) {
  const test::TempFolder folder;
  folder.write("model.safetensors", test::safetensors(R"({"w":{"dtype":"F8_E4M3","shape":[4],"data_offsets":[0,4]}})", 4));
  const auto source = folder_weights(folder.path());
  EXPECT_EQ(source->names(), std::vector<std::string>{"w"});
  EXPECT_THAT(error_of([&] { source->read("w"); }), HasSubstr("tensor 'w' has dtype F8_E4M3, which is not supported"));
  EXPECT_EQ(find_weight_problems(std::vector<DeclaredWeight>{{"w", {4}}}, *source).at(0).kind, WeightProblem::Kind::kUnreadable);
}

// A folder with two shards, a in the first and b in the second.
struct Sharded {
  test::TempFolder folder;
  Sharded() {
    write_safetensors(folder / "model-00001-of-00002.safetensors", {{"a", floats({1})}});
    write_safetensors(folder / "model-00002-of-00002.safetensors", {{"b", floats({2})}});
  }
  void index(const std::string& a, const std::string& b) const {
    folder.write("model.safetensors.index.json", fmt::format(R"({{"weight_map": {{"a": "{}", "b": "{}"}}}})", a, b));
  }
  std::string error() const {
    return error_of([&] { folder_weights(folder.path()); });
  }
};

TEST(FolderWeights, ShardsAreReadWithAndWithoutAnIndex) {
  const Sharded s;
  const auto listed = folder_weights(s.folder.path());
  EXPECT_EQ(listed->read("b").as<float>()[0], 2.0f);
  EXPECT_EQ(listed->locate("b")->path, s.folder / "model-00002-of-00002.safetensors");
  s.index("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors");
  EXPECT_EQ(folder_weights(s.folder.path())->read("a").as<float>()[0], 1.0f);
  EXPECT_EQ(folder_weights(test::TempFolder().path() + "/.."), nullptr);
}

TEST(FolderWeights, BadIndexesAreRefused) {
  const Sharded s;
  const char* good = "model-00001-of-00002.safetensors";
  for (const char* bad : {"../model-00001-of-00002.safetensors", "/etc/passwd", "", "..", "sub/x.safetensors", "x\\u0000.safetensors"}) {
    s.index(good, bad);
    EXPECT_THAT(s.error(), HasSubstr("no plain file name")) << bad;
  }
  s.index(good, "model-00003-of-00003.safetensors");
  EXPECT_THAT(s.error(), HasSubstr("lacks shards that the index lists: model-00003-of-00003.safetensors"));
  s.index(good, good);
  EXPECT_THAT(s.error(), HasSubstr("no shard holds these tensors, which the index lists: b"));
  s.folder.write("model.safetensors.index.json", R"({"weight_map": {"a": "x", "a": "y"}})");
  EXPECT_THAT(s.error(), HasSubstr("'a' occurs twice"));
  s.folder.write("model.safetensors.index.json", R"({"weight_map": ["a"]})");
  EXPECT_THAT(s.error(), HasSubstr("wanted an object"));
  s.folder.write("model.safetensors.index.json", "{}");
  EXPECT_THAT(s.error(), HasSubstr("'weight_map' is missing"));
}

TEST(FolderWeights, MissingAndDoubledShardsAreNoticedWithoutAnIndex) {
  const Sharded s;
  write_safetensors(s.folder / "model-00002-of-00002.safetensors", {{"a", floats({2})}});
  EXPECT_THAT(s.error(), HasSubstr("tensor 'a' is in"));
  std::filesystem::remove(s.folder / "model-00002-of-00002.safetensors");
  EXPECT_THAT(s.error(), HasSubstr("holds 1 of 00002 shards"));
  write_safetensors(s.folder / "model-00001-of-00003.safetensors", {{"c", floats({2})}});
  EXPECT_THAT(s.error(), HasSubstr("shards of two models"));
}

TEST(RandomWeights, DependOnSeedAndNameOnly) {
  const std::vector<DeclaredWeight> declared = {{"w", {64, 128}}, {"v", {64, 128}}, {"norm.weight", {64}}, {"odd", {3, 7}}};
  const auto values = [&](const char* name, RandomWeightsOptions options) {
    const auto source = random_weights(declared, options);
    const Tensor t = source->read(name);
    return std::vector<float>(t.as<float>(), t.as<float>() + t.numel());
  };
  const RandomWeightsOptions f32 = {.matrix_dtype = DType::kF32};
  EXPECT_EQ(values("w", f32), values("w", f32));
  EXPECT_NE(values("w", f32), values("v", f32));
  EXPECT_NE(values("w", f32), values("w", {.seed = 1, .matrix_dtype = DType::kF32}));

  const std::vector<float> w = values("w", f32), norm = values("norm.weight", f32);
  double sum = 0, squares = 0;
  for (float x : w) sum += x, squares += x * x;
  EXPECT_NEAR(sum / double(w.size()), 0, 1e-3);
  EXPECT_NEAR(std::sqrt(squares / double(w.size())), 0.02, 1e-3);
  for (float x : norm) EXPECT_NEAR(x, 1, 0.1);
}

TEST(RandomWeights, OutliveTheirReleaseWhereSomebodyOwnsThem) {
  const auto source = renamed_weights(random_weights({{"w", {64, 64}}}, {.matrix_dtype = DType::kF32}), {{"v", "w"}});
  const Tensor kept = source->read("v");
  const std::shared_ptr<const void> owner = source->owner("v");
  ASSERT_NE(owner, nullptr);
  const std::vector<float> before(kept.as<float>(), kept.as<float>() + 64 * 64);
  source->release("v");
  const Tensor again = source->read("v");
  EXPECT_NE(again.data, kept.data);
  EXPECT_EQ(before, std::vector<float>(kept.as<float>(), kept.as<float>() + 64 * 64));
  EXPECT_EQ(before, std::vector<float>(again.as<float>(), again.as<float>() + 64 * 64));
}

TEST(RandomWeights, TakeTheTypeThatWasAskedForWhereItFits) {
  const std::vector<DeclaredWeight> declared = {{"w", {4, 128}}, {"norm.weight", {64}}, {"odd", {3, 7}}};
  const auto source = random_weights(declared, {.matrix_dtype = DType::kQ4_0});
  EXPECT_EQ(source->find("w")->dtype, DType::kQ4_0);
  EXPECT_EQ(source->find("odd")->dtype, DType::kF16);
  EXPECT_EQ(source->find("norm.weight")->dtype, DType::kF32);
  const auto exact_source = random_weights(declared, {.matrix_dtype = DType::kF32});
  const Tensor exact = exact_source->read("w");
  std::vector<float> got(512);
  to_float(DType::kQ4_0, source->read("w").data, got.data(), 512);
  for (int i = 0; i < 512; ++i) EXPECT_NEAR(got[size_t(i)], exact.as<float>()[i], 0.01);
  source->release("w");
  EXPECT_EQ(source->read("w").dtype, DType::kQ4_0);
  EXPECT_THROW(random_weights(declared, {.matrix_dtype = DType::kQ4_K}), Error);
}

}  // namespace
}  // namespace headrace
