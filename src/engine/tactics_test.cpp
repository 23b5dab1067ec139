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

std::string tactics_of(const std::string& device, const std::string& version) {
  return Json{{"device", device}, {"version", version}, {"ops", {{"linear f32[16, 4]", {"avx2", 0.1}}}}}.dump();
}
const std::string kTactics = tactics_of("gpu-90", std::string(version()));

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
  const std::string path = folder / "a.engine";
  write_engine(engine_with(kTactics), path);
  CaptureStderr();
  const Engine back = read_engine(path);
  EXPECT_EQ(back.tactics, kTactics);
  EXPECT_EQ(tactics_for(back, "gpu-90"), kTactics);
  EXPECT_EQ(GetCapturedStderr(), "");
  write_engine(engine_with(""), path);
  EXPECT_EQ(read_engine(path).tactics, "");
  EXPECT_EQ(tactics_for(read_engine(path), "gpu-90"), "");
}

TEST(Tactics, OfAnotherDeviceOrVersionOrGarbledAreLeftOutWithOneLine) {
  const auto line_for = [](const std::string& tactics) {
    CaptureStderr();
    EXPECT_EQ(tactics_for(engine_with(tactics), "gpu-90"), "") << tactics;
    const std::string line = GetCapturedStderr();
    EXPECT_EQ(lines(line), 1) << line;
    EXPECT_THAT(line, HasSubstr("mine.engine: its tactics"));
    return line;
  };
  EXPECT_THAT(line_for(tactics_of("gpu-80", std::string(version()))), HasSubstr("are of device gpu-80, this is gpu-90"));
  EXPECT_THAT(line_for(tactics_of("gpu-90", "0.0.0")), HasSubstr("are of Headrace 0.0.0"));
  for (const char* garbled : {"null", "{", "[]", "{}", R"({"device":1,"version":"1"})"})
    EXPECT_THAT(line_for(garbled), HasSubstr("damaged"));
}

TEST(Tactics, DamagedOnDiskTheyAreLeftOutWithOneLine) {
  const test::TempFolder folder;
  const std::string path = folder / "a.engine", sealed = with_checksum(kTactics);
  write_engine(engine_with(""), path);
  const std::map<std::string, std::string> whole = SafetensorsFile::open(path).metadata();
  const auto read_with = [&](const std::string& tactics) {
    std::map<std::string, std::string> metadata = whole;
    metadata["tactics"] = tactics;
    write_safetensors(path, {}, metadata);
    CaptureStderr();
    const std::string read = read_engine(path).tactics;
    const std::string log = GetCapturedStderr();
    EXPECT_EQ(lines(log), read == "") << log;
    return read;
  };
  EXPECT_EQ(read_with(sealed), kTactics);
  for (size_t at = 0; at < sealed.size(); ++at) {
    std::string broken = sealed;
    broken[at] = broken[at] == '7' ? '8' : '7';
    EXPECT_EQ(read_with(broken), "") << broken;
    EXPECT_EQ(read_with(sealed.substr(0, at)), "") << at;
  }
}

TEST(Tactics, WhatIsNoJsonIsNotWritten) {
  const test::TempFolder folder;
  for (const char* garbled : {"null", "{", "[1]", "12"})
    EXPECT_THAT(error_of([&] { write_engine(engine_with(garbled), folder / "a.engine"); }), HasSubstr("a.engine: cannot be written"));
  EXPECT_TRUE(folder.names().empty());
}

}  // namespace
}  // namespace headrace
