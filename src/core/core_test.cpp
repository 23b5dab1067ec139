#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "core/context.h"
#include "core/dtype.h"
#include "core/glob.h"
#include "core/json.h"
#include "core/log.h"
#include "core/mapped_file.h"
#include "core/new_file.h"
#include "core/test_support.h"
#include "core/utf8.h"

namespace headrace {
namespace {

TEST(Dim, EqualSizesCompareEqualHoweverTheyWereMade) {
  const Dim t = Dim::symbol("tokens"), s = Dim::symbol("sequences");
  EXPECT_EQ(t * 4 + 1, Dim(1) + Dim(4) * t);
  EXPECT_EQ((t + s) * (t - s), t * t - s * s);
  EXPECT_EQ(t - t, Dim(0));
  EXPECT_NE(t, s);
  EXPECT_EQ((t * 12).divided_by(4), t * 3);
  EXPECT_EQ((t * s * 12).divided_by(s * 3), t * 4);
  EXPECT_FALSE((t * 3).divided_by(2));
  EXPECT_EQ((t * 3 + 1).evaluate({{"tokens", 5}}), 16);
  EXPECT_THROW((t * 3).evaluate({}), Error);
}

TEST(Dim, PrintsAndParsesBackUnchanged) {
  const Dim t = Dim::symbol("tokens"), s = Dim::symbol("sequences");
  for (const Dim& d : {Dim(0), Dim(-7), t, t * 4 - 1, t * s * 2 + t * t - s + 3}) EXPECT_EQ(Dim::parse(d.to_string()), d) << d.to_string();
  for (const char* bad : {"", "+", "4*", "a b", "3a", "99999999999999999999", "a++b"}) EXPECT_THROW(Dim::parse(bad), Error) << bad;
}

TEST(Dim, SizesBeyond64BitsAreErrors) {
  const Dim t = Dim::symbol("tokens");
  for (const char* text :
       {"9223372036854775807+1", "-9223372036854775807-2", "4294967296*4294967296", "4294967296*t*4294967296", "t*9223372036854775807+t"})
    EXPECT_THROW(Dim::parse(text), Error) << text;
  EXPECT_EQ(Dim::parse("9223372036854775806+1"), Dim(INT64_MAX));
  EXPECT_THROW((t * (int64_t{1} << 32)).evaluate({{"tokens", int64_t{1} << 32}}), Error);
  EXPECT_THROW((t * t + t * 3).evaluate({{"tokens", int64_t{3037000499}}}), Error);
}

TEST(Dim, SizesThatOverflowAreErrors) {
  const Dim t = Dim::symbol("tokens"), huge(INT64_MAX), lowest(INT64_MIN);
  EXPECT_THROW(huge + 1, Error);
  EXPECT_THROW(lowest - 1, Error);
  EXPECT_THROW(huge * t * 2, Error);
  EXPECT_THROW((huge * t).evaluate({{"tokens", 2}}), Error);
  EXPECT_THROW((huge * t + 1).evaluate({{"tokens", 1}}), Error);
  EXPECT_FALSE(lowest.divided_by(-1));
  EXPECT_EQ(lowest.to_string(), "-9223372036854775808");
}

TEST(Dim, ProductsDoNotGrowWithoutBound) {
  Dim sum;
  SymbolValues ones;
  for (int i = 0; i < 20; ++i) {
    const std::string symbol = fmt::format("s{}", i);
    sum = sum + Dim::symbol(symbol);
    ones[symbol] = 1;
  }
  EXPECT_EQ((sum * sum).evaluate(ones), 400);
  EXPECT_THROW(sum * sum * sum, Error);
}

TEST(Shape, OfNumbersAloneGivesThem) {
  EXPECT_EQ((Shape{2, 3}).sizes(), (Sizes{2, 3}));
  EXPECT_TRUE((Shape{2, 3}).is_constant() && Shape().is_constant());
  const Shape open{2, Dim::symbol("tokens")};
  EXPECT_FALSE(open.is_constant());
  EXPECT_THROW(open.sizes(), Error);
}

TEST(Float16, EveryHalfSurvivesARoundTrip) {
  for (uint32_t h = 0; h < 0x10000; ++h) {
    const float f = half_to_float(uint16_t(h));
    if (std::isnan(f)) EXPECT_TRUE(std::isnan(half_to_float(float_to_half(f))));
    else EXPECT_EQ(float_to_half(f), h);
  }
  EXPECT_EQ(half_to_float(float_to_half(65520.0f)), INFINITY);
  EXPECT_EQ(half_to_float(float_to_half(65519.0f)), 65504.0f);
  EXPECT_EQ(float_to_half(1.0f + 0x1p-11f), float_to_half(1.0f));  // ties to even
  EXPECT_EQ(float_to_bfloat16(1.0f + 0x1p-8f), float_to_bfloat16(1.0f));
  EXPECT_TRUE(std::isnan(bfloat16_to_float(float_to_bfloat16(NAN))));
}

TEST(Glob, StarsStandForAnyCharactersAndQuestionMarksForOne) {
  EXPECT_TRUE(matches_glob("model.layers.3.mlp", "model.layers.3.mlp"));
  EXPECT_TRUE(matches_glob("*.o_proj", "model.layers.3.self_attn.o_proj"));
  EXPECT_TRUE(matches_glob("model.layers.?.*_proj*", "model.layers.3.self_attn.o_proj"));
  EXPECT_TRUE(matches_glob("**", ""));
  EXPECT_TRUE(matches_glob("a*b*c", "a-b-b-c")) << "the first b is not the one";
  EXPECT_FALSE(matches_glob("model.layers.?", "model.layers.31"));
  EXPECT_FALSE(matches_glob("*.o_proj", "model.o_proj.weight"));
  EXPECT_FALSE(matches_glob("", "a"));
  EXPECT_FALSE(matches_glob("a?", "a"));
  EXPECT_FALSE(matches_glob(std::string(64, '*') + "b", std::string(1 << 16, 'a'))) << "and takes no time";
  EXPECT_TRUE(is_glob("a?") && is_glob("*") && !is_glob("model.layers.3"));
}

TEST(Utf8, InvalidPartsBecomeOneReplacementEach) {
  EXPECT_EQ(replace_invalid_utf8("a\xc3\xa9\xe2\x82z"), "a\xc3\xa9\xef\xbf\xbdz");
  EXPECT_EQ(replace_invalid_utf8("\xc0\xaf"), "\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(replace_invalid_utf8("\xed\xa0\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");                  // a surrogate
  EXPECT_EQ(replace_invalid_utf8("\xf4\x90\x80\x80").size(), 4 * std::string_view("\xef\xbf\xbd").size());  // beyond U+10FFFF
  EXPECT_TRUE(decode_utf8("\xf0\x9f\x98", 0).truncated);
  EXPECT_FALSE(decode_utf8("\xf0\x9f\x20", 0).truncated);
  std::string s;
  append_utf8(s, 0x1f600);
  EXPECT_EQ(decode_utf8(s, 0).codepoint, 0x1f600u);
}

TEST(Json, DeepNestingAndGarbageAreErrorsNotCrashes) {
  EXPECT_THROW(parse_json(std::string(100000, '['), "x"), Error);
  EXPECT_THROW(parse_json("{\"a\": ", "x"), Error);
  EXPECT_THROW(parse_json("\"\xff\"", "x"), Error);
  EXPECT_EQ(parse_json("{\"[[[\": \"NaN\", \"b\": NaN}", "x").dump(), "{\"[[[\":\"NaN\",\"b\":null}");
  EXPECT_GT(parse_json("[0.0, Infinity]", "x")[1].get<double>(), 1e300);
  EXPECT_THROW(find<int>(parse_json("{\"a\": \"b\"}", "x"), "a", "x"), Error);
  EXPECT_EQ(find_or<int>(parse_json("{\"a\": null}", "x"), "a", 3, "x"), 3);
}

TEST(Json, IntegersThatDoNotFitAreErrors) {
  const Json json = parse_json("{\"a\": 4294967297, \"b\": -1, \"c\": 18446744073709551615, \"d\": 2147483647}", "x");
  EXPECT_THROW(find<int>(json, "a", "x"), Error);
  EXPECT_EQ(find<int64_t>(json, "a", "x"), 4294967297);
  EXPECT_THROW(find<uint64_t>(json, "b", "x"), Error);
  EXPECT_THROW(find<int64_t>(json, "c", "x"), Error);
  EXPECT_EQ(find<uint64_t>(json, "c", "x"), UINT64_MAX);
  EXPECT_EQ(find<int>(json, "d", "x"), 2147483647);
}

TEST(Json, TreesBuiltInOrderEqualTheLibrarysOwn) {
  for (const char* text :
       {"{}", "[]", "3", "\"x\"", "[1, -2, 3.5, null, true, \"\\u00e9\", [], {}, [[{\"a\": [1]}]]]",
        "{\"b\": {\"z\": 1, \"a\": [2, {\"c\": 3}]}, \"a\": 18446744073709551615}", "{\"a\": 1, \"b\": 2, \"a\": [3]}"}) {
    EXPECT_EQ(parse_ordered_json(text, "x"), OrderedJson::parse(text)) << text;
    EXPECT_EQ(parse_ordered_json(text, "x").dump(), OrderedJson::parse(text).dump()) << text;
  }
  EXPECT_EQ(parse_json_with_unique_keys("{\"b\": {\"a\": 1}, \"a\": [{\"a\": 2}]}", "x"),
            Json::parse("{\"b\": {\"a\": 1}, \"a\": [{\"a\": 2}]}"));
  EXPECT_THROW(parse_json_with_unique_keys("[{\"a\": 1, \"b\": {}, \"a\": 2}]", "x"), Error);
  for (const char* bad : {"", "{", "[1,]", "{\"a\"}", "{} {}", "\"\xff\"", "1e999"}) {
    EXPECT_THROW(parse_ordered_json(bad, "x"), Error) << bad;
    EXPECT_THROW(parse_json_with_unique_keys(bad, "x"), Error) << bad;
  }
}

TEST(Json, ManyKeysInOneObjectTakeLinearTime) {  // hours, were each looked for among all
  std::string text = "{";
  for (int i = 0; i < 400000; ++i) text += fmt::format("{}\"key {}\": {{}}", i ? "," : "", i);
  text += "}";
  EXPECT_EQ(parse_ordered_json(text, "x").size(), 400000u);
  EXPECT_EQ(parse_json_with_unique_keys(text, "x").size(), 400000u);
}

TEST(Error, TextInMessagesIsOneShortPrintableLine) {
  EXPECT_EQ(printable("a\n\x1b[0m\xff\u00e9\u0085"), "a\\x0a\\x1b[0m\\xff\u00e9\\xc2\\x85");
  EXPECT_EQ(printable("abcdef", 4), "abcd...");
  EXPECT_EQ(printable("abcd", 4), "abcd");
}

TEST(Error, WhatLeavesWithoutAPathGetsOne) {
  const auto message = [](const std::string& inner) {
    return test::error_of([&] { with_context("/a/model", [&]() -> int { invalid("{}", inner); }); });
  };
  EXPECT_EQ(message("no vocabulary"), "/a/model: no vocabulary");
  EXPECT_EQ(message("/a/model/x: is cut short"), "/a/model/x: is cut short");
  EXPECT_EQ(with_context("/a", [] { return 3; }), 3);
}

TEST(Log, TextFromFilesDoesNotSteerTheTerminal) {
  testing::internal::CaptureStderr();
  log_line(LogLevel::kError,
           "a\x1b[31mb\r\xc2\x9b"
           "c\n  \u00e9");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "headrace: error: a\\x1b[31mb\\x0d\\xc2\\x9bc\n  \u00e9\n");
}

// ---------------------------------------------------------------------------------------------------------------- files

class Files : public testing::Test {
 protected:
  std::string path(const char* name) const { return folder_ / name; }
  std::string text(const char* name) const {
    std::ifstream file(path(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const char* name, std::string_view bytes) const {
    NewFile file(path(name));
    file.append(std::as_bytes(std::span(bytes)));
    file.commit();
  }
  test::TempFolder folder_;
};

TEST_F(Files, ANewFileReplacesAFileAndWhatALinkLeadsTo) {
  write("a", "old");
  write("a", "new");
  EXPECT_EQ(text("a"), "new");
  std::filesystem::create_directories(folder_ / "sub");
  std::filesystem::create_symlink("sub/target", path("link"));
  for (const char* content : {"first", "second"}) {  // the target is not there yet, then is
    write("link", content);
    EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
    EXPECT_EQ(text("sub/target"), content);
  }
  std::filesystem::create_symlink("loop", path("loop"));
  EXPECT_THROW(NewFile(path("loop")), Error);
}

TEST_F(Files, WhatIsNoFileIsNeverReplacedByOne) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  std::filesystem::create_directories(folder_ / "sub");
  std::filesystem::create_symlink("pipe", path("link"));
  for (const char* name : {"pipe", "sub", "link"}) EXPECT_THROW(write(name, "x"), Error) << name;
  EXPECT_TRUE(std::filesystem::is_fifo(path("pipe")));
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
  EXPECT_THROW(NewFile("/dev/null"), Error);
  EXPECT_THROW(NewFile("/dev/stdout/x"), Error);
}

TEST_F(Files, APipeIsRefusedWithoutWaitingForAWriter) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_THROW(MappedFile::open(path("pipe")), Error);
}

TEST(Tensor, BytesOfHostileSizesAreRefused) {
  const int64_t huge[] = {int64_t{1} << 40, int64_t{1} << 40};
  EXPECT_FALSE(checked_bytes(DType::kF32, huge));
  const int64_t ragged[] = {2, 33};
  EXPECT_FALSE(checked_bytes(DType::kQ8_0, ragged));
  const int64_t fine[] = {2, 64};
  EXPECT_EQ(checked_bytes(DType::kQ8_0, fine), 4 * 34);
}

}  // namespace
}  // namespace headrace
