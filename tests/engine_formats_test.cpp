// Engines of every format that Headrace has written are read and run; damaged anywhere, they are an error or run, and nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>

#include "core/json.h"
#include "core/test_support.h"
#include "headrace/engine.h"
#include "headrace/llm.h"

namespace headrace {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::internal::CaptureStderr;
using testing::internal::GetCapturedStderr;

std::vector<std::string> engines() {
  std::vector<std::string> paths;
  for (const auto& entry : fs::directory_iterator(HEADRACE_SOURCE_DIR "/tests/data/engines"))
    if (entry.path().extension() == ".engine") paths.push_back(entry.path().string());
  return paths;
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

const LoadOptions kOptions{.num_threads = 1};

TEST(EngineFormats, OfEveryFormatRunAsWhenTheyWereWritten) {
  ASSERT_FALSE(engines().empty());
  for (const std::string& path : engines()) {
    SCOPED_TRACE(path);
    const Json expected = read_json_file(path.substr(0, path.rfind('.')) + ".json");
    CaptureStderr();
    LLM llm(path, kOptions);
    const auto prompt = expected.at("prompt").get<std::string>();
    EXPECT_EQ(llm.encode(prompt), expected.at("ids").get<std::vector<int32_t>>());
    const auto tokens = expected.at("tokens").get<std::vector<int32_t>>();
    const Completion c = llm.generate(prompt, {.max_tokens = int(tokens.size()), .ignore_eos = true, .output = {.logprobs = 0}});
    EXPECT_EQ(c.token_ids, tokens);
    EXPECT_EQ(c.text, expected.at("text").get<std::string>());
    for (size_t i = 0; i < c.logprobs.size(); ++i)
      EXPECT_NEAR(c.logprobs[i].logprob, expected.at("logprobs").at(i).get<float>(), 1e-3) << i;
    const std::string log = GetCapturedStderr();
    EXPECT_LE(std::count(log.begin(), log.end(), '\n'), 1) << "at most: tactics of another device\n" << log;
  }
}

TEST(EngineFormats, TheFormatOfTodayIsAmongThem) {
  const test::TempFolder folder;
  write_engine(read_engine(engines().front()), folder / "a.engine");
  const auto format_of = [](const std::string& path) {
    const std::string bytes = bytes_of(path);
    const size_t at = bytes.find("\"headrace.format\":");
    return bytes.substr(at, bytes.find(',', at) - at);
  };
  const std::string today = format_of(folder / "a.engine");
  EXPECT_TRUE(std::ranges::any_of(engines(), [&](const std::string& path) { return format_of(path) == today; }))
      << today << " is new: make_engine makes its engine";
}

// ---------------------------------------------------------------------------------------------------------------- damage

// An engine's file in its parts.
struct Parts {
  explicit Parts(const std::string& bytes) {
    uint64_t length = 0;
    std::memcpy(&length, bytes.data(), sizeof length);
    header = OrderedJson::parse(bytes.substr(sizeof length, length));
    data = bytes.substr(sizeof length + length);
  }
  std::string joined() const {
    std::string text = header.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
    text.resize((text.size() + 8 + 63) / 64 * 64 - 8, ' ');
    const uint64_t length = text.size();
    return std::string(reinterpret_cast<const char*>(&length), sizeof length) + text + data;
  }
  OrderedJson header;
  std::string data;
};

// Of thousands of files, each with its line.
struct Quiet {
  Quiet() { CaptureStderr(); }
  ~Quiet() { GetCapturedStderr(); }
};

struct Damage : testing::Test {
  enum class Outcome { kRefused, kRuns };

  Outcome outcome(const std::string& bytes, bool run) {
    folder.write("broken.engine", bytes);
    try {
      Engine engine = read_engine(folder / "broken.engine");
      if (!run) return Outcome::kRuns;
      const std::unique_ptr<Executor> executor = load_executor(std::move(engine), kOptions);
      executor->await(executor->enqueue({.token_ids = {1, 2, 4}, .max_tokens = 2}));
      ++num_run;
      return Outcome::kRuns;
    } catch (const Error&) {
      ++num_refused;
      return Outcome::kRefused;
    }
  }
  void expect_refused(const std::string& bytes, const std::string& what) { EXPECT_EQ(outcome(bytes, false), Outcome::kRefused) << what; }

  // Every value in `json`, one after the other, taken away and made into what it is not.
  template <typename Use>
  void for_each_damage(const OrderedJson& whole, const Use& use) {
    static const OrderedJson kWrong[] = {nullptr,        -1,   int64_t{1} << 40,           INT64_MAX, UINT64_MAX, 1e308, "",
                                         "f32[9999999]", true, OrderedJson::array({1e18}), {},        {{"a", 1}}};
    const OrderedJson flat = whole.flatten();
    for (const auto& [pointer, value] : flat.items()) {
      const OrderedJson::json_pointer at(pointer);
      OrderedJson broken = whole;
      if (broken[at.parent_pointer()].is_object()) {
        broken[at.parent_pointer()].erase(at.back());
        use(broken, pointer + " gone");
      }
      for (const OrderedJson& wrong : kWrong) {
        broken = whole;
        broken[at] = wrong;
        use(broken, pointer + " = " + wrong.dump());
      }
    }
  }

  test::TempFolder folder;
  std::string bytes = bytes_of(engines().front());
  int num_run = 0, num_refused = 0;
};

TEST_F(Damage, AFileCutShortIsRefused) {
  for (size_t size = 0; size < bytes.size(); size += size < 16 ? 1 : 211) expect_refused(bytes.substr(0, size), std::to_string(size));
  expect_refused(bytes.substr(0, bytes.size() - 1), "the last byte");
  EXPECT_EQ(outcome(bytes, true), Outcome::kRuns);
}

TEST_F(Damage, AnyFlippedBitIsAnErrorOrRuns) {
  const Quiet quiet;
  uint64_t header = 0;
  std::memcpy(&header, bytes.data(), sizeof header);
  for (size_t at = 0; at < bytes.size(); at += at < 8 + header ? 3 : 97) {
    std::string broken = bytes;
    broken[at] = char(broken[at] ^ (at % 4 == 0 ? 0x80 : 1 << at % 5));
    outcome(broken, at % 2 == 0);
  }
  EXPECT_GT(num_run, 20);
  EXPECT_GT(num_refused, 500);
}

TEST_F(Damage, AnyPartGoneOrAbsurdIsAnErrorOrRuns) {
  const Quiet quiet;
  const Parts whole(bytes);
  EXPECT_EQ(outcome(whole.joined(), true), Outcome::kRuns);
  Parts broken = whole;
  for_each_damage(whole.header, [&](const OrderedJson& header, const std::string&) {
    broken.header = header;
    outcome(broken.joined(), true);
  });
  const int refused_headers = num_refused;
  broken = whole;
  OrderedJson& engine = broken.header["__metadata__"]["engine"];
  for_each_damage(OrderedJson::parse(engine.get<std::string>()), [&](const OrderedJson& json, const std::string&) {
    engine = json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
    outcome(broken.joined(), true);
  });
  EXPECT_GT(refused_headers, 100);
  EXPECT_GT(num_refused, refused_headers + 100);
  EXPECT_GT(num_run, 20);
}

TEST_F(Damage, WithoutWhatItNeedsItIsRefusedByName) {
  for (const char* key : {"headrace.format", "engine", "program"}) {
    Parts broken(bytes);
    broken.header["__metadata__"].erase(key);
    folder.write("broken.engine", broken.joined());
    EXPECT_THAT(test::error_of([&] { read_engine(folder / "broken.engine"); }), HasSubstr(std::string("'") + key + "'"));
  }
}

TEST_F(Damage, TacticsAreLeftOutWithALineAndTheRestRuns) {
  const Json expected = read_json_file(HEADRACE_SOURCE_DIR "/tests/data/engines/format-1.json");
  const auto tokens = expected.at("tokens").get<std::vector<int32_t>>();
  const auto run = [&](const Parts& parts) {
    const std::string path = folder.write("broken.engine", parts.joined());
    CaptureStderr();
    EXPECT_EQ(LLM(path, kOptions)
                  .generate(expected.at("prompt").get<std::string>(), {.max_tokens = int(tokens.size()), .ignore_eos = true})
                  .token_ids,
              tokens);
    return GetCapturedStderr();
  };
  Parts broken(bytes);
  std::string& tactics = broken.header["__metadata__"]["tactics"].get_ref<std::string&>();
  EXPECT_EQ(run(broken).find("damaged"), std::string::npos);
  tactics[tactics.size() / 2] ^= 1;
  EXPECT_THAT(run(broken), HasSubstr("its tactics are damaged"));
  tactics.clear();
  EXPECT_THAT(run(broken), HasSubstr("its tactics are damaged"));
  broken.header["__metadata__"].erase("tactics");
  EXPECT_EQ(run(broken), "");
}

}  // namespace
}  // namespace headrace
