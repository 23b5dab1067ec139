#include "weights/safetensors.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "weights/safetensors_writer.h"
#include "weights/test_files.h"

namespace headrace {
namespace {

using test::error_of;
using test::raw;
using test::safetensors;
using testing::HasSubstr;

SafetensorsFile parse(const std::string& bytes) { return SafetensorsFile::parse(std::as_bytes(std::span(bytes)), "x.safetensors"); }
std::string error_in(const std::string& bytes) {
  return error_of([&] { parse(bytes); });
}
std::string error_in_header(const std::string& header, size_t data_bytes = 16) { return error_in(safetensors(header, data_bytes)); }

TEST(Safetensors, TensorsAndMetadataAreReadInPlace) {
  const std::string bytes = safetensors(
      R"({"b": {"dtype": "I8", "shape": [], "data_offsets": [12, 13]}, "empty": {"dtype": "F32", "shape": [0, 7], "data_offsets": [12, 12]},
    "a": {"dtype": "F16", "shape": [2, 3], "data_offsets": [0, 12]}, "__metadata__": {"format": "pt"}}   )",
      13);
  const SafetensorsFile file = parse(bytes);
  ASSERT_EQ(file.tensors().size(), 3u);
  EXPECT_EQ(file.find("a")->dtype, DType::kF16);
  EXPECT_EQ(file.find("a")->sizes, (Sizes{2, 3}));
  EXPECT_EQ(file.find("b")->sizes.rank(), 0);
  EXPECT_EQ(file.find("b")->data[0], std::byte{12});
  EXPECT_EQ(file.offset_of(*file.find("b")), bytes.size() - 1);
  EXPECT_EQ(file.metadata().at("format"), "pt");
  EXPECT_EQ(file.find("c"), nullptr);
  EXPECT_EQ(parse(safetensors("{}", 0)).tensors().size(), 0u);
}

TEST(Safetensors, EveryPrefixOfAFileIsAnError) {
  const std::string bytes = safetensors(R"({"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}})", 16);
  for (size_t n = 0; n < bytes.size(); ++n) EXPECT_THROW(parse(bytes.substr(0, n)), Error) << n;
  EXPECT_NO_THROW(parse(bytes));
  EXPECT_THAT(error_in(bytes + "x"), HasSubstr("1 bytes after the last tensor"));
}

TEST(Safetensors, HeaderLengthsOutOfRangeAreRefused) {
  for (uint64_t length : {uint64_t{0}, uint64_t{1}, uint64_t{1000}, uint64_t{1} << 63, ~uint64_t{0}})
    EXPECT_THAT(error_in(raw(length) + "{}"), HasSubstr(fmt::format("header length is {}", length)));
}

TEST(Safetensors, HeadersThatAreNoHeadersAreRefused) {
  EXPECT_THAT(error_in_header("[]", 0), HasSubstr("begins with '['"));
  EXPECT_THAT(error_in_header("{\"a\"", 0), HasSubstr("not valid JSON"));
  EXPECT_THAT(error_in_header("{\"\xff\":{}}", 0), HasSubstr("not valid JSON"));
  EXPECT_THAT(error_in_header("{\"a\":" + std::string(100000, '['), 0), HasSubstr("nested deeper"));
  EXPECT_THAT(error_in_header(R"({"a": 1})", 0), HasSubstr("wanted an object"));
  EXPECT_THAT(error_in_header(R"({"__metadata__": 1})", 0), HasSubstr("__metadata__"));
  EXPECT_THAT(error_in_header(R"({"__metadata__": {"a": 1}})", 0), HasSubstr("wanted a string"));
}

TEST(Safetensors, DuplicateNamesAreRefused) {
  EXPECT_THAT(
      error_in_header(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"a":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}})"),
      HasSubstr("'a' occurs twice"));
  EXPECT_THAT(error_in_header(R"({"a":{"dtype":"F32","dtype":"F16","shape":[4],"data_offsets":[0,16]}})"),
              HasSubstr("'dtype' occurs twice"));
}

TEST(Safetensors, BadEntriesNameTheTensor) {
  const auto entry = [](const std::string& fields) { return error_in_header("{\"w\": {" + fields + "}}"); };
  EXPECT_THAT(entry(R"("shape": [4], "data_offsets": [0, 16])"), HasSubstr("tensor 'w': 'dtype' is missing"));
  EXPECT_THAT(entry(R"("dtype": "F33", "shape": [4], "data_offsets": [0, 16])"), HasSubstr("unknown dtype 'F33'"));
  EXPECT_THAT(entry(R"("dtype": "F32", "shape": [4], "data_offsets": [16, 0])"), HasSubstr("reversed"));
  EXPECT_THAT(entry(R"("dtype": "F32", "shape": [4], "data_offsets": [0])"), HasSubstr("wanted 2"));
  EXPECT_THAT(entry(R"("dtype": "F32", "shape": [4], "data_offsets": [-16, 0])"), HasSubstr("holds -16"));
  EXPECT_THAT(entry(R"("dtype": "F32", "shape": [4.0], "data_offsets": [0, 16])"), HasSubstr("holds 4.0"));
  EXPECT_THAT(entry(R"("dtype": "F32", "shape": [-4], "data_offsets": [0, 16])"), HasSubstr("holds -4"));
  EXPECT_THAT(entry(R"("dtype": "F32", "shape": 4, "data_offsets": [0, 16])"), HasSubstr("wanted an array"));
  EXPECT_THAT(entry(R"("dtype": "F32", "shape": [3], "data_offsets": [0, 16])"),
              HasSubstr("F32 [3] needs 12 bytes, data_offsets [0, 16] hold 16"));
  EXPECT_THAT(entry(R"("dtype": "F32", "shape": [4294967296, 4294967296], "data_offsets": [0, 16])"), HasSubstr("overflows"));
  EXPECT_THAT(entry(R"("dtype": "F32", "shape": [0, 9223372036854775807, 4], "data_offsets": [0, 0])"), HasSubstr("overflows"));
  EXPECT_THAT(entry(R"("dtype": "F32", "shape": [18446744073709551616], "data_offsets": [0, 16])"), HasSubstr("holds 1.8"));
  EXPECT_THAT(entry(R"("dtype": "F32", "shape": [1,1,1,1,1,1,1,1,4], "data_offsets": [0, 16])"), HasSubstr("9 axes"));
  EXPECT_THAT(entry(R"("dtype": "F32", "shape": [4], "data_offsets": [0, 16], "x": 1)"), HasSubstr("unknown field 'x'"));
}

TEST(Safetensors, OverlapsGapsAndOverrunsAreRefused) {
  const auto two = [](int begin, int end) {
    return error_in_header(
        fmt::format(R"({{"a":{{"dtype":"U8","shape":[8],"data_offsets":[0,8]}},"b":{{"dtype":"U8","shape":[{}],"data_offsets":[{},{}]}}}})",
                    end - begin, begin, end));
  };
  EXPECT_THAT(two(4, 16), HasSubstr("tensor 'b' begins at 4 and overlaps 'a', which ends at 8"));
  EXPECT_THAT(two(10, 16), HasSubstr("a gap from 8 to 10"));
  EXPECT_THAT(two(8, 17), HasSubstr("tensor 'b' ends at 17, but the file holds 16 bytes"));
}

TEST(Safetensors, TypesWithoutASupportedTwinAreKeptByName) {
  const std::string bytes = safetensors(R"({"a":{"dtype":"F8_E4M3","shape":[4],"data_offsets":[0,4]}})", 4);
  const SafetensorsFile file = parse(bytes);
  EXPECT_EQ(file.find("a")->dtype_name, "F8_E4M3");
  EXPECT_FALSE(file.find("a")->dtype);
}

TEST(SafetensorsWriter, WhatItWritesIsReadBackAligned) {
  const test::TempFolder folder;
  const std::string path = folder / "out.safetensors";
  const HostTensor bytes(DType::kU8, {3}, std::span<const uint8_t>(std::initializer_list<uint8_t>{1, 2, 3}));
  const HostTensor floats(DType::kF32, {1, 2}, std::span<const float>(std::initializer_list<float>{0.5f, -2.0f}));
  {
    SafetensorsWriter writer(path, {{"bytes", DType::kU8, {3}}, {"floats", DType::kF32, {1, 2}}}, {{"made_by", "a \"test\""}});
    writer.write("floats", floats);
    EXPECT_THAT(error_of([&] { writer.commit(); }), HasSubstr("not written: bytes"));
    EXPECT_THAT(error_of([&] { writer.write("bytes", floats); }), HasSubstr("wanted a contiguous u8[3]"));
    EXPECT_THAT(error_of([&] { writer.write("other", floats); }), HasSubstr("was not announced"));
    writer.write("bytes", bytes);
    EXPECT_FALSE(std::filesystem::exists(path));  // not before it is complete
    writer.commit();
  }
  const SafetensorsFile file = SafetensorsFile::open(path);
  EXPECT_EQ(file.metadata().at("made_by"), "a \"test\"");
  const SafetensorsTensor* read = file.find("floats");
  EXPECT_EQ(reinterpret_cast<uintptr_t>(read->data.data()) % 64, 0u);
  EXPECT_EQ(reinterpret_cast<const float*>(read->data.data())[1], -2.0f);
  EXPECT_EQ(file.find("bytes")->data[2], std::byte{3});
}

TEST(SafetensorsWriter, AnInterruptedFileLeavesNothing) {
  const test::TempFolder folder;
  folder.write("out.safetensors", "old");
  { SafetensorsWriter writer(folder / "out.safetensors", {{"a", DType::kU8, {3}}}); }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
  EXPECT_EQ(std::filesystem::file_size(folder / "out.safetensors"), 3u);
  EXPECT_THROW(SafetensorsWriter(folder / "x", {{"a", DType::kQ4_0, {32}}}), Error);
  EXPECT_THROW(SafetensorsWriter(folder / "x", {{"a", DType::kU8, {1}}, {"a", DType::kU8, {1}}}), Error);
  EXPECT_THROW(SafetensorsWriter(folder / "no/such/folder/x", {}), Error);
}

}  // namespace
}  // namespace headrace
