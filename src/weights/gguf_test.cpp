#include "weights/gguf.h"

#include <gmock/gmock.h>

#include "weights/test_files.h"

namespace headrace {
namespace {

using test::error_of;
using test::GgufBuilder;
using test::raw;
using testing::HasSubstr;

GgufFile parse(const std::string& bytes) { return GgufFile::parse(std::as_bytes(std::span(bytes)), "x.gguf"); }

std::string error_in(const GgufBuilder& builder) {
  const std::string bytes = builder.file();
  return error_of([&] { parse(bytes); });
}

TEST(Gguf, EveryVersionGivesTheSameValues) {
  for (uint32_t version : {1u, 2u, 3u}) {
    GgufBuilder b{.version = version};
    b.string("name", "caf\xc3\xa9").u32("count", 7).value("small", 1, "\xfe").value("wide", 10, raw(uint64_t{1} << 40)).f32("eps", 0.5f);
    b.value("yes", 7, "\x01").value("double", 12, raw(2.25)).strings("words", {"a", "", "bcd"}).i32s("types", {1, -2}).strings("none", {});
    b.f32_tensor("first", {2, 3}, 1.5f).f32_tensor("second", {4}, 2.5f);
    const std::string bytes = b.file();
    const GgufFile file = parse(bytes);
    EXPECT_EQ(file.version(), version);
    EXPECT_EQ(file.string("name"), "caf\xc3\xa9");
    EXPECT_EQ(file.integer("count"), 7);
    EXPECT_EQ(file.integer("small"), -2);
    EXPECT_EQ(file.integer("wide"), int64_t{1} << 40);
    EXPECT_EQ(file.real("eps"), 0.5);
    EXPECT_EQ(file.real("count"), 7.0);
    EXPECT_EQ(file.real("double"), 2.25);
    EXPECT_EQ(file.boolean("yes"), true);
    EXPECT_EQ(file.strings("words"), (std::vector<std::string_view>{"a", "", "bcd"}));
    EXPECT_EQ(file.integers("types"), (std::vector<int64_t>{1, -2}));
    EXPECT_EQ(file.reals("types"), (std::vector<double>{1, -2}));
    EXPECT_EQ(file.array_size("none"), 0u);
    EXPECT_FALSE(file.string("absent"));
    ASSERT_EQ(file.tensors().size(), 2u);
    const GgufTensor* first = file.find_tensor("first");
    ASSERT_TRUE(first);
    EXPECT_EQ(first->sizes, (Sizes{3, 2}));  // outermost first
    EXPECT_EQ(first->dtype, DType::kF32);
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(file.find_tensor("second")->data.data()), 4), raw(2.5f));

    const std::string metadata = file.metadata_only();
    EXPECT_LT(metadata.size(), bytes.size());
    const GgufFile again = parse(metadata);
    EXPECT_EQ(again.tensors().size(), 0u);
    EXPECT_EQ(again.strings("words"), file.strings("words"));
  }
}

TEST(Gguf, AValueOfAnotherKindIsNamed) {
  const std::string bytes = GgufBuilder().string("a", "x").u32("b", 1).strings("c", {"x"}).value("d", 10, raw(~uint64_t{0})).file();
  const GgufFile file = parse(bytes);
  EXPECT_EQ(error_of([&] { file.integer("a"); }), "x.gguf: metadata 'a' is string, wanted an integer");
  EXPECT_THAT(error_of([&] { file.string("b"); }), HasSubstr("'b' is u32, wanted a string"));
  EXPECT_THAT(error_of([&] { file.integers("c"); }), HasSubstr("'c' is an array of string, wanted an array of integers"));
  EXPECT_THAT(error_of([&] { file.integer("d"); }), HasSubstr("below 2^63"));
}

TEST(Gguf, EveryPrefixOfAFileIsAnError) {
  const std::string bytes = GgufBuilder().string("general.architecture", "llama").strings("t", {"a", "b"}).f32_tensor("w", {4, 4}).file();
  for (size_t n = 0; n < bytes.size(); ++n) EXPECT_THROW(parse(bytes.substr(0, n)), Error) << n;
  EXPECT_NO_THROW(parse(bytes));
}

TEST(Gguf, WrongBeginningsSayWhatWasFound) {
  EXPECT_THAT(error_of([] { parse("PK\x03\x04 a zip file"); }), HasSubstr("begins with 'PK\\x03\\x04'"));
  EXPECT_THAT(error_in({.version = 4}), HasSubstr("version 4"));
  EXPECT_THAT(error_in({.version = 0}), HasSubstr("version 0"));
  EXPECT_THAT(error_in({.version = 0x03000000}), HasSubstr("big-endian"));
}

TEST(Gguf, AbsurdCountsAreErrorsBeforeAnythingIsAllocated) {
  for (uint64_t count : {uint64_t{1} << 32, uint64_t{1} << 63, ~uint64_t{0}}) {
    GgufBuilder tensors, values, array, text;
    tensors.num_tensors = count;
    EXPECT_THAT(error_in(tensors), HasSubstr("number of tensors is"));
    values.num_values = count;
    EXPECT_THAT(error_in(values), HasSubstr("number of metadata values is"));
    EXPECT_THAT(error_in(array.value("a", 9, raw(uint32_t{6}) + raw(count))), HasSubstr("a is"));
    EXPECT_THAT(error_in(text.value("a", 8, raw(count))), HasSubstr("the file ends"));
  }
}

TEST(Gguf, HostileMetadataAreRefused) {
  EXPECT_THAT(error_in(GgufBuilder().value("a", 13, "")), HasSubstr("unknown type 13"));
  EXPECT_THAT(error_in(GgufBuilder().u32("a", 1).u32("a", 2)), HasSubstr("'a' occurs twice"));
  std::string nested;
  for (int i = 0; i < 100000; ++i) nested += raw(uint32_t{9}) + raw(uint64_t{1});
  EXPECT_THAT(error_in(GgufBuilder().value("a", 9, nested + raw(uint32_t{0}) + raw(uint64_t{0}))), HasSubstr("nests arrays too deeply"));
  for (uint32_t alignment : {0u, 3u, 4u, 48u, 1u << 30}) {
    EXPECT_THAT(error_in(GgufBuilder().u32("general.alignment", alignment)), HasSubstr(fmt::format("general.alignment is {}", alignment)));
  }
  EXPECT_THAT(error_in(GgufBuilder().string("general.alignment", "32")), HasSubstr("wanted an integer"));
}

TEST(Gguf, HostileTensorsAreRefused) {
  const uint64_t huge = uint64_t{1} << 62;
  EXPECT_THAT(error_in(GgufBuilder().tensor("w", {4}, 99, 0)), HasSubstr("tensor 'w' has element type 99 (unknown)"));
  EXPECT_THAT(error_in(GgufBuilder().tensor("w", {256}, 16, 0)), HasSubstr("(IQ2_XXS), which is not supported"));
  EXPECT_THAT(error_in(GgufBuilder().tensor("w", {huge, huge}, 0, 0)), HasSubstr("impossible"));
  EXPECT_THAT(error_in(GgufBuilder().tensor("w", {huge, huge, 0}, 0, 0)), HasSubstr("impossible"));
  EXPECT_THAT(error_in(GgufBuilder().tensor("w", {~uint64_t{0}}, 0, 0)), HasSubstr("impossible"));
  EXPECT_THAT(error_in(GgufBuilder().tensor("w", {33}, 2, 0)), HasSubstr("blocks of 32"));
  EXPECT_THAT(error_in(GgufBuilder().tensor("w", std::vector<uint64_t>(9, 1), 0, 0)), HasSubstr("9 axes"));
  EXPECT_THAT(error_in(GgufBuilder().f32_tensor("w", {4}).f32_tensor("w", {4})), HasSubstr("'w' occurs twice"));
  GgufBuilder overlap;
  overlap.f32_tensor("a", {16}).tensor("b", {8}, 0, 32);
  EXPECT_THAT(error_in(overlap), HasSubstr("'a' and 'b' overlap"));
  GgufBuilder askew;
  askew.f32_tensor("a", {16}).tensor("b", {2}, 0, 4);
  EXPECT_THAT(error_in(askew), HasSubstr("no multiple of the alignment"));
  GgufBuilder gap;
  gap.f32_tensor("a", {16}).tensor("b", {2}, 0, 96);
  gap.data += std::string(256, '\0');
  EXPECT_THAT(error_in(gap), HasSubstr("a gap between tensors 'a' and 'b'"));
  GgufBuilder late;
  late.tensor("a", {2}, 0, 32);
  late.data += std::string(256, '\0');
  EXPECT_THAT(error_in(late), HasSubstr("wanted 0"));
  GgufBuilder outside;
  outside.tensor("b", {2}, 0, ~uint64_t{0} - 31);
  EXPECT_THAT(error_in(outside), HasSubstr("needs 8 bytes at offset"));
}

TEST(Gguf, PartsOfASplitModelAreJoined) {
  const test::TempFolder folder;
  const auto part = [](uint32_t no, const char* tensor, float fill) {
    return GgufBuilder()
        .value("split.no", 2, raw(uint16_t(no)))
        .value("split.count", 2, raw(uint16_t{2}))
        .u32("split.tensors.count", 2)
        .f32_tensor(tensor, {8}, fill);
  };
  const std::string first = folder.write("m-00001-of-00002.gguf", part(0, "a", 1).string("general.architecture", "llama").file());
  EXPECT_THAT(error_of([&] { GgufFile::open(first); }), HasSubstr("m-00002-of-00002.gguf: cannot be opened"));
  const std::string second = folder.write("m-00002-of-00002.gguf", part(1, "b", 2).file());
  const GgufFile file = GgufFile::open(first);
  ASSERT_EQ(file.tensors().size(), 2u);
  EXPECT_EQ(*reinterpret_cast<const float*>(file.find_tensor("b")->data.data()), 2.0f);
  EXPECT_EQ(file.locate(*file.find_tensor("b"))->path, second);
  file.release(*file.find_tensor("b"));
  EXPECT_EQ(*reinterpret_cast<const float*>(file.find_tensor("b")->data.data()), 2.0f);
  EXPECT_THAT(error_of([&] { GgufFile::open(second); }), HasSubstr("open the first part"));
  folder.write("m-00002-of-00002.gguf", GgufBuilder().u32("split.count", 2).file());
  EXPECT_THAT(error_of([&] { GgufFile::open(first); }), HasSubstr("its 2 parts hold 1 tensors, the first part promises 2"));
  folder.write("m-00002-of-00002.gguf", part(1, "a", 2).file());
  EXPECT_THAT(error_of([&] { GgufFile::open(first); }), HasSubstr("'a' is in an earlier part too"));
}

}  // namespace
}  // namespace headrace
