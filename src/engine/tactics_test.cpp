#include "engine/tactics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json.h"
#include "core/test_support.h"
#include "headrace/functional.h"
#include "weights/safetensors.h"
#include "weights/safetensors_writer.h"

namespace headrace {
namespace {

using test::error_of;
using testing::HasSubstr;
using testing::internal::CaptureStderr;
using testing::internal::GetCapturedStderr;

constexpr char kChoices[] = R"({"linear f32[16, 4]":["avx2","0.5"]})";

Engine engine_with(std::string tactics) {
  Engine engine{.origin = "mine.engine",
                .program = Graph::parse("graph g {\n input %x : f32[n]\n return %x\n}", builtin_ops()),
                .vocab_size = 1,
                .max_positions = 1};
  engine.tactics = std::move(tactics);
  return engine;
}

int lines(const std::string& text) { return int(std::count(text.begin(), text.end(), '\n')); }

TEST(Tactics, ComeBackFromTheFileAndHoldOnTheirDevice) {
  const test::TempFolder folder;
  const std::string path = folder / "a.engine", tactics = make_tactics("gpu-90", kChoices);
  write_engine(engine_with(tactics), path);
  CaptureStderr();
  const Engine back = read_engine(path);
  EXPECT_EQ(back.tactics, tactics);
  EXPECT_EQ(tactics_for(back, "gpu-90"), kChoices);
  EXPECT_EQ(GetCapturedStderr(), "");
  write_engine(engine_with("null"), path);
  EXPECT_EQ(read_engine(path).tactics, "null");
  EXPECT_EQ(tactics_for(read_engine(path), "gpu-90"), "null");
}

TEST(Tactics, OfAnotherDeviceOrVersionOrGarbledAreLeftOutWithOneLine) {
  const auto line_for = [](const std::string& tactics) {
    CaptureStderr();
    EXPECT_EQ(tactics_for(engine_with(tactics), "gpu-90"), "null") << tactics;
    const std::string line = GetCapturedStderr();
    EXPECT_EQ(lines(line), 1) << line;
    EXPECT_THAT(line, HasSubstr("mine.engine: its tactics"));
    return line;
  };
  EXPECT_THAT(line_for(make_tactics("gpu-80", kChoices)), HasSubstr("are of device gpu-80, this is gpu-90"));
  EXPECT_THAT(line_for(R"({"device":"gpu-90","version":"0.0.0","choices":{}})"), HasSubstr("are of Headrace 0.0.0"));
  for (const char* garbled : {"", "{", "[]", "{}", R"({"device":1,"version":"1","choices":{}})"})
    EXPECT_THAT(line_for(garbled), HasSubstr("damaged"));
}

TEST(Tactics, DamagedOnDiskTheyAreLeftOutWithOneLine) {
  const test::TempFolder folder;
  const std::string path = folder / "a.engine", sealed = with_checksum(make_tactics("gpu-90", kChoices));
  write_engine(engine_with("null"), path);
  const std::map<std::string, std::string> whole = SafetensorsFile::open(path).metadata();
  const auto read_with = [&](const std::string& tactics) {
    std::map<std::string, std::string> metadata = whole;
    metadata["tactics"] = tactics;
    write_safetensors(path, {}, metadata);
    CaptureStderr();
    const std::string read = read_engine(path).tactics;
    const std::string log = GetCapturedStderr();
    EXPECT_EQ(lines(log), read == "null") << log;
    return read;
  };
  EXPECT_NE(read_with(sealed), "null");
  for (size_t at = 0; at < sealed.size(); ++at) {
    std::string broken = sealed;
    broken[at] = broken[at] == '7' ? '8' : '7';
    EXPECT_EQ(read_with(broken), "null") << broken;
    EXPECT_EQ(read_with(sealed.substr(0, at)), "null") << at;
  }
}

TEST(Tactics, WhatIsNoJsonIsNotWritten) {
  const test::TempFolder folder;
  for (const char* garbled : {"", "{", "[1]", "12"})
    EXPECT_THAT(error_of([&] { write_engine(engine_with(garbled), folder / "a.engine"); }), HasSubstr("a.engine: cannot be written"));
  EXPECT_THAT(error_of([&] { make_tactics("gpu-90", "{"); }), HasSubstr("tactics"));
  EXPECT_TRUE(folder.names().empty());
}

}  // namespace
}  // namespace headrace
