// Filters from text to text.
#include "core/error.h"
#include "core/utf8.h"
#include "jinja/arguments.h"
#include "jinja/attributes.h"
#include "jinja/filters/filters.h"
#include "jinja/operators.h"
#include "jinja/percent_format.h"
#include "jinja/string_methods.h"
#include "jinja/text_form.h"
#include "jinja/unicode.h"

namespace headrace::jinja {
namespace {

// A string (a Markup stays one) of any value.
Value as_string(Runtime& runtime, const Value& self) { return self.is_string() ? self : runtime.string(to_text(runtime, self)); }

template <std::string (*Map)(std::string_view)>
Value mapped(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  expect_no_arguments("filter", arguments);
  return runtime.string(Map(text_of(as_string(runtime, self))), is_markup(self));
}

Value string(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  expect_no_arguments("string", arguments);
  return as_string(runtime, self);
}

// Words begin after white space, - ( { [ and <: unlike str.title.
std::string title_words(std::string_view text) {
  std::string out;
  size_t start = 0;
  const auto flush = [&](size_t end) {
    if (start < end) {
      const size_t first = size_t(decode_utf8(text, start).length);
      out += to_upper(text.substr(start, first)) + to_lower(text.substr(start + first, end - start - first));
    }
    start = end;
  };
  bool in_separator = false;
  for (size_t i = 0; i < text.size();) {
    const Utf8 c = decode_utf8(text, i);
    const bool is_separator =
        is_space(c.codepoint) || (c.codepoint < 0x80 && std::string_view("-({[<").find(char(c.codepoint)) != std::string_view::npos);
    if (is_separator != in_separator) flush(i);
    in_separator = is_separator;
    i += size_t(c.length);
  }
  flush(text.size());
  return out;
}

Value trim(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  const Parameters p("trim", arguments, {"chars"});
  const Value text = as_string(runtime, self);
  return runtime.string(std::string(p.is_set(0) ? strip(text_of(text), p.string(0)) : strip(text_of(text))), is_markup(self));
}

Value replace(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  const Parameters p("replace", arguments, {"old", "new", "count"}, 2);
  const int64_t count = p.is_set(2) ? p.integer_or(2, -1) : -1;
  const bool markup = runtime.autoescape && (is_markup(self) || is_markup(p[0]) || is_markup(p[1]));
  const auto text = [&](const Value& value) {
    return markup && !is_markup(value) ? escape_html(to_text(runtime, value)) : to_text(runtime, value);
  };
  return runtime.string(replace_text(runtime, text(self), text(p[0]), text(p[1]), count), markup);
}

Value center(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  const Parameters p("center", arguments, {"width"});
  return runtime.string(center_text(as_string(runtime, self), p.integer_or(0, 80), " "), is_markup(self));
}

Value format(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  if (!arguments.positional.empty() && !arguments.named.empty())
    invalid("format: positional and keyword arguments cannot be given at the same time");
  Value values;
  if (arguments.named.empty()) {
    values = runtime.tuple(arguments.positional);
  } else {
    auto dict = runtime.heap.make<DictObject>(0);
    for (const auto& [key, value] : arguments.named) dict->set(runtime, key, value);
    values = Value(dict);
  }
  return runtime.string(percent_format(runtime, as_string(runtime, self), values), is_markup(self));
}

Value wordcount(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  expect_no_arguments("wordcount", arguments);
  int64_t count = 0;
  bool in_word = false;
  for (const uint32_t c : decode(text_of(as_string(runtime, self)))) {
    count += is_word(c) && !in_word;
    in_word = is_word(c);
  }
  return Value::integer(count);
}

Value safe(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  expect_no_arguments("safe", arguments);
  return is_markup(self) ? self : runtime.string(to_text(runtime, self), true);
}

constexpr NativeEntry kFilters[] = {
    {"upper", mapped<to_upper>},
    {"lower", mapped<to_lower>},
    {"capitalize", mapped<capitalize>},
    {"title", mapped<title_words>},
    {"string", string},
    {"trim", trim},
    {"replace", replace},
    {"center", center},
    {"format", format},
    {"wordcount", wordcount},
    {"safe", safe},
};

}  // namespace

std::span<const NativeEntry> text_filters() { return kFilters; }

}  // namespace headrace::jinja
