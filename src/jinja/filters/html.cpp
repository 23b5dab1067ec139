// Filters for HTML and addresses.
#include "core/error.h"
#include "core/utf8.h"
#include "jinja/arguments.h"
#include "jinja/filters/filters.h"
#include "jinja/number_text.h"
#include "jinja/operators.h"
#include "jinja/text_form.h"
#include "jinja/unicode.h"

namespace headrace::jinja {
namespace {

Value escape(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  expect_no_arguments("escape", arguments);
  return is_markup(self) ? self : runtime.string(escape_html(to_text(runtime, self)), true);
}

Value force_escape(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  expect_no_arguments("forceescape", arguments);
  return runtime.string(escape_html(to_text(runtime, self)), true);
}

void append_quoted(Text& out, std::string_view text, bool in_query) {
  for (const char c : text) {
    const bool is_plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          std::string_view("_.-~").find(c) != std::string_view::npos;
    if (is_plain || (c == '/' && !in_query)) {
      out.add(1, c);
    } else if (c == ' ' && in_query) {
      out.add("+");
    } else {
      out.add(fmt::format("%{:02X}", static_cast<unsigned char>(c)));
    }
  }
}

Value urlencode(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  expect_no_arguments("urlencode", arguments);
  Text out;
  if (self.is_string() || !is_iterable(self)) {
    append_quoted(out, to_text(runtime, self), false);
    return runtime.string(out.take());
  }
  const Value items = self.is(Kind::kDict) ? Value(runtime.heap.make<DictViewObject>(0, self, DictViewObject::kItems)) : self;
  bool first = true;
  Value item;
  for (const Next next = iterate(runtime, items); next(item);) {
    const std::vector<Value> pair = to_vector(runtime, item);
    if (pair.size() != 2) invalid("urlencode: wanted pairs of key and value, found {} values", pair.size());
    if (!std::exchange(first, false)) out.add("&");
    append_quoted(out, to_text(runtime, pair[0]), true);
    out.add("=");
    append_quoted(out, to_text(runtime, pair[1]), true);
  }
  return runtime.string(out.take());
}

Value xmlattr(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  const Parameters p("xmlattr", arguments, {"autospace"});
  require_defined(self);
  if (!self.is(Kind::kDict)) invalid("xmlattr: wanted a dict, found {}", type_name(self));
  const auto escaped = [&](const Value& v) { return is_markup(v) ? text_of(v) : escape_html(to_text(runtime, v)); };
  Text out;
  for (const auto& [key, value] : self.as<DictObject>().items()) {
    if (value.is_none() || value.is_undefined()) continue;
    if (!key.is_string()) invalid("xmlattr: a key is {}, wanted a string", type_name(key));
    if (text_of(key).find_first_of(" \t\n\r\f\v/>=") != std::string::npos)
      invalid("xmlattr: invalid character in attribute name '{}'", printable(text_of(key)));
    if (out.size() || p.truth_or(0, true)) out.add(" ");
    out.add(escaped(key)).add("=\"").add(escaped(value)).add("\"");
  }
  return runtime.string(out.take(), runtime.autoescape);
}

// Without comments and tags; runs of white space become one space.
std::string without_tags(std::string_view text) {
  const auto without = [](std::string_view from, std::string_view open, std::string_view close) {
    std::string out;
    while (true) {
      const size_t start = from.find(open), end = start == from.npos ? from.npos : from.find(close, start);
      out += from.substr(0, end == from.npos ? from.npos : start);
      if (end == from.npos) return out;
      from.remove_prefix(end + close.size());
    }
  };
  const std::string plain = without(without(text, "<!--", "-->"), "<", ">");
  std::string out;
  bool after_space = true;
  for (size_t i = 0; i < plain.size();) {
    const Utf8 c = decode_utf8(plain, i);
    const bool space = is_space(c.codepoint);
    if (!space) out.append(plain, i, size_t(c.length));
    if (space && !after_space) out += ' ';
    after_space = space;
    i += size_t(c.length);
  }
  if (out.ends_with(' ')) out.pop_back();
  return out;
}

// The entities of escaped text: numbers and the names that HTML text uses most.
std::string unescape_html(std::string_view text) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"amp", "&"},        {"lt", "<"},         {"gt", ">"},          {"quot", "\""},      {"apos", "'"},
      {"nbsp", "\u00a0"},  {"copy", "\u00a9"},  {"hellip", "\u2026"}, {"mdash", "\u2014"}, {"ndash", "\u2013"},
      {"lsquo", "\u2018"}, {"rsquo", "\u2019"}, {"ldquo", "\u201c"},  {"rdquo", "\u201d"}};
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const size_t end = text[i] == '&' ? text.substr(i, 12).find(';') : text.npos;
    if (end == text.npos) {
      out += text[i];
      continue;
    }
    const std::string_view entity = text.substr(i + 1, end - 1);
    std::optional<int64_t> number;
    if (entity.starts_with("#x") || entity.starts_with("#X")) number = parse_integer(entity.substr(2), 16);
    else if (entity.starts_with("#")) number = parse_integer(entity.substr(1), 10);
    const size_t before = out.size();
    if (number && *number > 0 && *number <= 0x10ffff) append_utf8(out, uint32_t(*number));
    for (const auto& [name, character] : kNames)
      if (entity == name) out += character;
    if (out.size() == before) {
      out += text[i];
    } else {
      i += end;
    }
  }
  return out;
}

Value striptags(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  expect_no_arguments("striptags", arguments);
  return runtime.string(unescape_html(without_tags(to_text(runtime, self))));
}

constexpr NativeEntry kFilters[] = {
    {"escape", escape},       {"e", escape},        {"forceescape", force_escape},
    {"urlencode", urlencode}, {"xmlattr", xmlattr}, {"striptags", striptags},
};

}  // namespace

std::span<const NativeEntry> html_filters() { return kFilters; }

}  // namespace headrace::jinja
