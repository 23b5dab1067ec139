#include "text/stop_matcher.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace headrace {
namespace {

// What comes out after each part, with "|" between, and at the end.
std::string run(std::vector<std::string> stops, const std::vector<std::string>& parts) {
  StopMatcher matcher(std::move(stops));
  std::string out;
  for (const std::string& part : parts) out += matcher.push(part) + "|";
  out += matcher.flush();
  if (matcher.matched()) out += "!" + std::to_string(*matcher.matched());
  return out;
}

TEST(StopMatcher, HoldsWhatMayBecomeAStopString) {
  EXPECT_EQ(run({"stop"}, {"a s", "to", "ne"}), "a ||stone|");
  EXPECT_EQ(run({"stop"}, {"a st", "op b"}), "a ||!0");
  EXPECT_EQ(run({"stop"}, {"a st"}), "a |st");
}

TEST(StopMatcher, PassesTextThroughWithoutStopStrings) {
  EXPECT_EQ(run({}, {"a", "b"}), "a|b|");
  EXPECT_EQ(run({""}, {"a"}), "a|");
}

TEST(StopMatcher, TheEarliestBeginningWins) {
  EXPECT_EQ(run({"bc", "abcd"}, {"xabc", "d"}), "x||!1");
  EXPECT_EQ(run({"bc", "abcd"}, {"xabc", "e"}), "x|a|!0");
  EXPECT_EQ(run({"bc", "abcd"}, {"xabc"}), "x|a!0");
  EXPECT_EQ(run({"\n\n", "\n"}, {"a\n\nb"}), "a|!1");
}

TEST(StopMatcher, SaysNothingAfterAMatch) {
  StopMatcher matcher({"."});
  EXPECT_EQ(matcher.push("a.b"), "a");
  EXPECT_EQ(matcher.push("c"), "");
  EXPECT_EQ(matcher.flush(), "");
  EXPECT_EQ(matcher.matched(), 0u);
}

TEST(StopMatcher, AgreesWithASearchThroughTheWholeText) {
  std::mt19937 random(5);
  const auto word = [&](size_t most) {
    std::string text;
    for (size_t n = random() % most + 1; n > 0; --n) text += static_cast<char>('a' + random() % 2);
    return text;
  };
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::string> stops;
    for (size_t n = random() % 3 + 1; n > 0; --n) stops.push_back(word(5));
    const std::string text = word(24);
    size_t begin = std::string::npos;
    for (const std::string& stop : stops) begin = std::min(begin, text.find(stop));
    StopMatcher matcher(stops);
    std::string out;
    for (size_t i = 0; i < text.size(); i += 2) out += matcher.push(std::string_view(text).substr(i, 2));
    out += matcher.flush();
    EXPECT_EQ(out, text.substr(0, begin)) << text;
    EXPECT_EQ(matcher.matched().has_value(), begin != std::string::npos);
  }
}

}  // namespace
}  // namespace headrace
