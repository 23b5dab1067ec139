// The methods of str that change it or look at its characters. Those that split and search: string_search.cpp.
#include "jinja/string_methods.h"

#include <algorithm>
#include <span>

#include "core/error.h"
#include "core/utf8.h"
#include "jinja/arguments.h"
#include "jinja/attributes.h"
#include "jinja/operators.h"
#include "jinja/str_format.h"
#include "jinja/string_search.h"
#include "jinja/text_form.h"
#include "jinja/unicode.h"

namespace headrace::jinja {
namespace {

// A Markup stays one.
Value like(Runtime& runtime, const Value& self, std::string text) { return runtime.string(std::move(text), is_markup(self)); }

// An argument of a Markup's method is escaped.
std::string argument_text(const Value& self, const Value& argument) {
  return is_markup(self) && !is_markup(argument) ? escape_html(text_of(argument)) : text_of(argument);
}

template <std::string (*Map)(std::string_view)>
Value mapped(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  expect_no_arguments("str method", arguments);
  return like(runtime, self, Map(text_of(self)));
}

template <StripSides sides>
Value stripped(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  const Parameters p("strip", arguments, {"chars"});
  const std::string& text = text_of(self);
  return like(runtime, self, std::string(p.is_set(0) ? strip(text, p.string(0), sides) : strip(text, sides)));
}

// All characters satisfy it, and there is one.
template <bool (*Holds)(uint32_t)>
Value all(Runtime&, const Value& self, const CallArguments& arguments) {
  expect_no_arguments("str method", arguments);
  const std::vector<uint32_t> text = decode(text_of(self));
  return Value::boolean(!text.empty() && std::all_of(text.begin(), text.end(), Holds));
}

bool is_numeric(uint32_t c) { return is_alnum(c) && !is_alpha(c); }
bool is_ascii(uint32_t c) { return c < 0x80; }

template <bool (*IsWanted)(uint32_t), bool (*IsOther)(uint32_t)>
Value cased(Runtime&, const Value& self, const CallArguments& arguments) {
  expect_no_arguments("str method", arguments);
  bool any = false;
  for (const uint32_t c : decode(text_of(self))) {
    if (IsOther(c) || is_title(c)) return Value::boolean(false);
    any |= IsWanted(c);
  }
  return Value::boolean(any);
}

Value istitle(Runtime&, const Value& self, const CallArguments& arguments) {
  expect_no_arguments("istitle", arguments);
  bool any = false, in_word = false;
  for (const uint32_t c : decode(text_of(self))) {
    if ((is_upper(c) || is_title(c)) && in_word) return Value::boolean(false);
    if (is_lower(c) && !in_word) return Value::boolean(false);
    in_word = is_cased(c);
    any |= in_word;
  }
  return Value::boolean(any);
}

Value isidentifier(Runtime&, const Value& self, const CallArguments& arguments) {
  expect_no_arguments("isidentifier", arguments);
  const std::vector<uint32_t> text = decode(text_of(self));
  const bool starts_well = !text.empty() && (text[0] == '_' || is_alpha(text[0]));
  return Value::boolean(starts_well && std::all_of(text.begin(), text.end(), is_word));
}

Value isascii(Runtime&, const Value& self, const CallArguments& arguments) {
  expect_no_arguments("isascii", arguments);
  const std::vector<uint32_t> text = decode(text_of(self));
  return Value::boolean(std::all_of(text.begin(), text.end(), is_ascii));
}

Value isprintable(Runtime&, const Value& self, const CallArguments& arguments) {
  expect_no_arguments("isprintable", arguments);
  const std::vector<uint32_t> text = decode(text_of(self));
  return Value::boolean(std::all_of(text.begin(), text.end(), is_printable));
}

Value replace(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  const Parameters p("replace", arguments, {"old", "new", "count"}, 2);
  p.string(0), p.string(1);
  return like(runtime, self,
              replace_text(runtime, text_of(self), argument_text(self, p[0]), argument_text(self, p[1]), p.integer_or(2, -1)));
}

std::string fill_of(const Parameters& p, size_t i) {
  if (!p.has(i)) return " ";
  if (count_codepoints(p.string(i)) != 1) invalid("the fill character must be exactly one character long");
  return p.string(i);
}

template <bool Left>
Value justified(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  const Parameters p(Left ? "ljust" : "rjust", arguments, {"width", "fillchar"}, 1);
  const int64_t missing = std::max<int64_t>(0, p.integer_or(0, 0) - std::max<int64_t>(0, length_of(self)));
  const std::string fill = fill_of(p, 1);
  Text out;
  if (Left) out.add(text_of(self));
  out.repeat(size_t(missing), fill);
  if (!Left) out.add(text_of(self));
  return like(runtime, self, out.take());
}

Value center(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  const Parameters p("center", arguments, {"width", "fillchar"}, 1);
  return like(runtime, self, center_text(self, p.integer_or(0, 0), fill_of(p, 1)));
}

Value zfill(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  const Parameters p("zfill", arguments, {"width"}, 1);
  const std::string_view text = text_of(self);
  const bool has_sign = text.starts_with('-') || text.starts_with('+');
  Text out;
  out.add(text.substr(0, has_sign)).add(size_t(std::max<int64_t>(0, p.integer_or(0, 0) - length_of(self))), '0').add(text.substr(has_sign));
  return like(runtime, self, out.take());
}

Value expandtabs(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  const Parameters p("expandtabs", arguments, {"tabsize"});
  const int64_t size = p.integer_or(0, 8);
  Text out;
  int64_t column = 0;
  for (const char c : text_of(self)) {
    if (c != '\t') {
      out.add(1, c);
      column = c == '\n' || c == '\r' ? 0 : column + ((static_cast<unsigned char>(c) & 0xc0) != 0x80);
    } else if (size > 0) {
      out.add(size_t(size - column % size), ' ');
      column += size - column % size;
    }
  }
  return like(runtime, self, out.take());
}

Value removeprefix(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  const Parameters p("removeprefix", arguments, {"prefix"}, 1);
  std::string_view text = text_of(self);
  if (text.starts_with(p.string(0))) text.remove_prefix(p.string(0).size());
  return like(runtime, self, std::string(text));
}

Value removesuffix(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  const Parameters p("removesuffix", arguments, {"suffix"}, 1);
  std::string_view text = text_of(self);
  if (text.ends_with(p.string(0))) text.remove_suffix(p.string(0).size());
  return like(runtime, self, std::string(text));
}

Value join(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  const Parameters p("join", arguments, {"iterable"}, 1);
  require_defined(self);
  Text out;
  Value item;
  bool first = true;
  for (const Next next = iterate(runtime, p[0]); next(item);) {
    if (!std::exchange(first, false)) out.add(text_of(self));
    if (!item.is_string()) invalid("join(): expected str instance, {} found", type_name(item));
    out.add(argument_text(self, item));
  }
  return like(runtime, self, out.take());
}

Value format(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  return like(runtime, self, str_format(runtime, self, arguments));
}

Value format_map(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  const Parameters p("format_map", arguments, {"mapping"}, 1);
  if (!p[0].is(Kind::kDict)) invalid("format_map(): wanted a mapping, found {}", type_name(p[0]));
  CallArguments named;
  for (const auto& [key, value] : p[0].as<DictObject>().items())
    if (key.is_string()) named.named.emplace_back(text_of(key), value);
  return like(runtime, self, str_format(runtime, self, named));
}

constexpr NativeEntry kMethods[] = {
    {"upper", mapped<to_upper>},
    {"lower", mapped<to_lower>},
    {"title", mapped<to_title>},
    {"capitalize", mapped<capitalize>},
    {"swapcase", mapped<swap_case>},
    {"casefold", mapped<fold_case>},
    {"strip", stripped<StripSides{}>},
    {"lstrip", stripped<StripSides{.right = false}>},
    {"rstrip", stripped<StripSides{.left = false}>},
    {"replace", replace},
    {"join", join},
    {"format", format},
    {"format_map", format_map},
    {"ljust", justified<true>},
    {"rjust", justified<false>},
    {"center", center},
    {"zfill", zfill},
    {"expandtabs", expandtabs},
    {"removeprefix", removeprefix},
    {"removesuffix", removesuffix},
    {"isalpha", all<is_alpha>},
    {"isalnum", all<is_alnum>},
    {"isdecimal", all<is_decimal>},
    {"isdigit", all<is_digit>},
    {"isnumeric", all<is_numeric>},
    {"isspace", all<is_space>},
    {"isascii", isascii},
    {"isprintable", isprintable},
    {"isidentifier", isidentifier},
    {"islower", cased<is_lower, is_upper>},
    {"isupper", cased<is_upper, is_lower>},
    {"istitle", istitle},
};

}  // namespace

std::string replace_text(Runtime& runtime, std::string_view text, std::string_view old, std::string_view with, int64_t count) {
  runtime.step_search(text, old);
  Text out;
  size_t copied = 0;
  for (size_t at = 0; count != 0; --count) {
    if (old.empty()) {  // between all characters, and at both ends
      if (copied < at || at == 0) out.add(text.substr(copied, at - copied));
      copied = at;
      out.add(with);
      if (at >= text.size()) break;
      at += size_t(decode_utf8(text, at).length);
      continue;
    }
    at = text.find(old, at);
    if (at == text.npos) break;
    out.add(text.substr(copied, at - copied)).add(with);
    copied = at += old.size();
  }
  return out.add(text.substr(copied)).take();
}

std::string center_text(const Value& string, int64_t width, std::string_view fill) {
  const int64_t missing = std::max<int64_t>(0, width - length_of(string));
  const int64_t left = missing / 2 + (missing & width & 1);
  return Text().repeat(size_t(left), fill).add(text_of(string)).repeat(size_t(missing - left), fill).take();
}

const NativeEntry* find_string_method(std::string_view name) {
  for (const std::span<const NativeEntry> methods : {std::span<const NativeEntry>(kMethods), search_methods()})
    for (const NativeEntry& entry : methods)
      if (entry.name == name) return &entry;
  return nullptr;
}

}  // namespace headrace::jinja
