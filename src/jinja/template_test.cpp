#include "jinja/template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "core/json.h"
#include "jinja/strftime.h"

namespace headrace::jinja {
namespace {

using testing::HasSubstr;

std::string render(std::string_view source, std::string_view context = "{}") {
  return Template::parse(source, "test").render(parse_ordered_json(context, "context"));
}

std::string error_of(std::string_view source, std::string_view context = "{}") {
  try {
    return "no error, but: " + render(source, context);
  } catch (const TemplateError& error) {
    return error.what();
  }
}

// Written by testdata/make_cases.py with jinja2.
TEST(Template, RendersAsJinja2) {
  const std::string path = HEADRACE_SOURCE_DIR "/src/jinja/testdata/cases.jsonl";
  std::ifstream in(path);
  std::string line;
  ASSERT_TRUE(std::getline(in, line)) << path;
  const OrderedJson context = parse_ordered_json(line, path);
  int num_cases = 0;
  for (; std::getline(in, line); ++num_cases) {
    const OrderedJson test = parse_ordered_json(line, path);
    const auto source = test["template"].get<std::string>();
    std::string rendered;
    bool failed = false;
    try {
      rendered = Template::parse(source, "case").render(context);
    } catch (const TemplateError& error) {
      rendered = error.what();
      failed = true;
    }
    EXPECT_EQ(failed, test.contains("fails")) << source << "\n" << rendered;
    if (failed || test.contains("fails")) continue;
    EXPECT_EQ(rendered, test["expected"].get<std::string>()) << source;
  }
  EXPECT_GT(num_cases, 800);
}

TEST(Template, NamesTheLineAndWhatItWanted) {
  EXPECT_EQ(error_of("a\n{% if x %}\nb"),
            "test, line 3: found the end of the template, wanted {% elif %} or {% else %} or {% endif %} (the innermost open tag is 'if')");
  EXPECT_EQ(error_of("\n{{ a b }}"), "test, line 2: found 'b', wanted '}}'");
  EXPECT_EQ(error_of("{{ (1, 2] }}"), "test, line 1: unexpected ']', wanted ')'");
  EXPECT_EQ(error_of("{% include 'x' %}"), "test, line 1: 'include' is not supported: a chat template cannot load other templates");
  EXPECT_EQ(error_of("{{ 'abc }}"), "test, line 1: a string has no end");
  EXPECT_EQ(error_of("a\n\n{{ x.y.z }}"), "test, line 3: 'x' is undefined");
  EXPECT_EQ(error_of("{{ d.y.z }}", R"({"d": {}})"), "test, line 1: 'dict object' has no attribute 'y'");
  EXPECT_EQ(error_of("{{ 'a' +\n 1 }}"), "test, line 2: can only concatenate str (not \"int\") to str");
  EXPECT_EQ(error_of("\n{{ raise_exception('my words') }}"), "test, line 2: my words");
  EXPECT_EQ(error_of("{{ [].append(1) }}"), "test, line 1: access to attribute 'append' of 'list' object is unsafe.");
}

TEST(Template, SeesTheDateItIsGiven) {
  const auto parsed = Template::parse("{{ strftime_now('%d %B %Y|%Y-%m-%d|%a %b %e|%-d/%-m|%H:%M:%S|%I %p|%j|%U %W %V|%y%%') }}", "test");
  const auto at = [&](const char* time) { return parsed.render(OrderedJson::object(), {.now = parse_time(time)}); };
  EXPECT_EQ(at("2025-07-10"), "10 July 2025|2025-07-10|Thu Jul 10|10/7|00:00:00|12 AM|191|27 27 28|25%");
  EXPECT_EQ(at("2024-12-30 23:59:58"), "30 December 2024|2024-12-30|Mon Dec 30|30/12|23:59:58|11 PM|365|52 53 01|24%");
  EXPECT_THROW(parse_time("2025-02-30"), Error);
  EXPECT_THROW(parse_time("tomorrow"), Error);
  EXPECT_THROW(parse_time("2025-07-10x"), Error);
}

TEST(Template, IntegersHave64Bits) {
  EXPECT_EQ(render("{{ 9223372036854775807 }} {{ i }}", R"({"i": -9223372036854775808})"), "9223372036854775807 -9223372036854775808");
  EXPECT_THAT(error_of("{{ 9223372036854775807 + 1 }}"), HasSubstr("integer overflow in '+'"));
  EXPECT_THAT(error_of("{{ 2 ** 64 }}"), HasSubstr("integer overflow in '**'"));
  EXPECT_THAT(error_of("{{ -i }}", R"({"i": -9223372036854775808})"), HasSubstr("integer overflow"));
  EXPECT_THAT(error_of("{{ i // -1 }}", R"({"i": -9223372036854775808})"), HasSubstr("integer overflow"));
  EXPECT_THAT(error_of("{{ 9223372036854775808 }}"), HasSubstr("does not fit 64 bits"));
  EXPECT_EQ(render("{{ i }}", R"({"i": 18446744073709551615})"), "1.8446744073709552e+19");
}

TEST(Template, BoundsHostileTemplates) {
  EXPECT_THAT(error_of("{{ range(100001) }}"), HasSubstr("the sandbox allows 100000"));
  EXPECT_THAT(error_of("{{ 'a' * 99999999999 }}"), HasSubstr("longer than 64 MiB"));
  EXPECT_THAT(error_of("{{ [0] * 99999999999 }}"), HasSubstr("256 MiB"));
  EXPECT_THAT(error_of("{{ 'a'.center(99999999999) }}"), HasSubstr("longer than 64 MiB"));
  EXPECT_THAT(error_of("{{ '%999999999d' % 1 }}"), HasSubstr("too large"));
  EXPECT_THAT(error_of("{% set a = 'a' * 1000000 %}{{ a|replace('a', a) }}"), HasSubstr("longer than 64 MiB"));
  EXPECT_THAT(error_of("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}"), HasSubstr("nested evaluations"));
  EXPECT_THAT(error_of("{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}"), HasSubstr("nested evaluations"));
  EXPECT_THAT(error_of("{% set n = namespace(l=[]) %}{% for i in range(5000) %}{% set n.l = [n.l] %}{% endfor %}{{ n.l }}"),
              HasSubstr("nested evaluations"));
  EXPECT_THAT(error_of("{% set n = namespace(l=[1]) %}{% for i in range(60) %}{% set n.l = [n.l, n.l] %}{% endfor %}{{ n.l }}"),
              HasSubstr("longer than 64 MiB"));
  EXPECT_THAT(error_of("{% set n = namespace() %}{% set n.n = n %}{{ n }}"), HasSubstr("nested evaluations"));
  EXPECT_THAT(error_of("{% set n = namespace(s='ab') %}{% for i in range(60) %}{% set n.s = n.s + n.s %}{% endfor %}"),
              HasSubstr("longer than 64 MiB"));
  const auto endless = Template::parse("{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}", "test");
  EXPECT_THROW(endless.render(OrderedJson::object(), {.max_steps = 100000}), TemplateError);
}

TEST(Template, BoundsTheDepthOfWhatItParses) {
  const auto repeated = [](std::string_view part, int count) {
    std::string out;
    for (int i = 0; i < count; ++i) out += part;
    return out;
  };
  for (const char* part : {"(", "[", "-", "not ", "{1:", "a(", "a[", "a if ", "a|f("})
    EXPECT_THAT(error_of("{{ " + repeated(part, 100000)), HasSubstr("test, line 1: ")) << part;
  for (const char* part : {"+a", "*a", "**a", " and a", " or a", ".a", "[0]", "|upper", "()", " if a"})
    EXPECT_THAT(error_of("{{ a" + repeated(part, 100000) + " }}"), HasSubstr("deeper than")) << part;
  for (const char* part : {"{% if a %}", "{% for a in b %}", "{% set a %}", "{% macro a() %}", "{% filter upper %}", "{% generation %}"})
    EXPECT_THAT(error_of(repeated(part, 100000)), HasSubstr("deeper than")) << part;
  EXPECT_EQ(render("{{ 1" + repeated(" ~ 1", 1000) + " }}").size(), 1001u);
  EXPECT_EQ(render("{% if false %}" + repeated("{% elif false %}", 10000) + "{% else %}x{% endif %}"), "x");
}

TEST(Template, FreesCyclesAndDeepValues) {  // the leak and address sanitizers look on
  EXPECT_EQ(render("{% set n = namespace() %}{% set n.me = n %}{% macro m() %}{{ n }}{% endmacro %}{% set n.m = m %}x"), "x");
  EXPECT_EQ(render("{% set n = namespace(l=[]) %}{% for i in range(100000) %}{% set n.l = [n.l] %}{% endfor %}x"), "x");
  EXPECT_EQ(render("{% set n = namespace(g=[]) %}{% for i in range(100000) %}{% set n.g = n.g|map('string') %}{% endfor %}x"), "x");
}

TEST(Template, RendersFromSeveralThreadsAtOnce) {
  const auto parsed = Template::parse("{% for i in range(200) %}{{ 'constant' ~ x ~ i }}{% endfor %}", "test");
  const OrderedJson context = {{"x", 1}};
  const std::string expected = parsed.render(context);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) EXPECT_EQ(parsed.render(context), expected);
    });
  for (auto& thread : threads) thread.join();
}

TEST(Template, ReplacesInvalidUtf8OfTheContextAndRefusesItInTheSource) {
  OrderedJson context = OrderedJson::object();
  context["s"] = "a\xff";
  EXPECT_EQ(Template::parse("{{ s }}", "test").render(context), "a\xef\xbf\xbd");
  EXPECT_THAT(error_of("\xff"), HasSubstr("not valid UTF-8"));
}

}  // namespace
}  // namespace headrace::jinja
