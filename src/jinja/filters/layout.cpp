// Filters that lay text out in lines: indent, truncate, wordwrap, pprint.
#include <algorithm>

#include "core/error.h"
#include "core/utf8.h"
#include "jinja/arguments.h"
#include "jinja/filters/filters.h"
#include "jinja/operators.h"
#include "jinja/pretty_print.h"
#include "jinja/string_methods.h"
#include "jinja/text_form.h"
#include "jinja/unicode.h"
#include "jinja/word_wrap.h"

namespace headrace::jinja {
namespace {

const std::string& text_required(std::string_view filter, const Value& self) {
  require_defined(self);
  if (!self.is_string()) invalid("{}: wanted a string, found {}", filter, type_name(self));
  return text_of(self);
}

Value indent(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  const Parameters p("indent", arguments, {"width", "first", "blank"});
  const std::string& text = text_required("indent", self);
  std::string indention = "    ";
  if (p.has(0) && p[0].is_string()) {
    indention = is_markup(self) && !is_markup(p[0]) ? escape_html(text_of(p[0])) : text_of(p[0]);
  } else if (p.has(0)) {
    indention = Text().add(size_t(std::max<int64_t>(0, p.integer_or(0, 4))), ' ').take();
  }
  const std::string ended = text + "\n";  // so that a last empty line counts
  const bool first = p.truth_or(1, false), blank = p.truth_or(2, false);
  Text out;
  if (first) out.add(indention);
  size_t number = 0;
  for (const std::string_view line : split_lines(ended, false)) {
    if (number++) {
      out.add("\n");
      if (blank || !line.empty()) out.add(indention);
    }
    out.add(line);
  }
  return runtime.string(out.take(), is_markup(self));
}

Value truncate(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  const Parameters p("truncate", arguments, {"length", "killwords", "end", "leeway"});
  const int64_t limit = p.integer_or(0, 255), leeway = p.is_set(3) ? p.integer_or(3, 5) : 5;
  const std::string end = p.has(2) ? p.string(2) : "...";
  const int64_t kept = limit - count_codepoints(end);
  if (kept < 0) invalid("truncate: wanted a length of at least {}, found {}", count_codepoints(end), limit);
  if (leeway < 0) invalid("truncate: the leeway is {}, wanted at least 0", leeway);
  if (!self.is_string() && length_of(self) - leeway <= limit) return self;
  text_required("truncate", self);
  auto& string = self.as<StringObject>();
  if (length(string) - leeway <= limit) return self;
  std::string_view text = std::string_view(string.text).substr(0, byte_offset(string, std::min(kept, length(string))));
  if (!p.truth_or(1, false)) text = text.substr(0, text.rfind(' '));
  return runtime.string(Text().add(text).add(end).take(), is_markup(self));
}

Value wordwrap(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  const Parameters p("wordwrap", arguments, {"width", "break_long_words", "wrapstring", "break_on_hyphens"});
  const WrapOptions options{
      .width = p.integer_or(0, 79), .breaks_long_words = p.truth_or(1, true), .breaks_on_hyphens = p.truth_or(3, true)};
  if (options.width <= 0) invalid("wordwrap: the width is {}, wanted more than 0", options.width);
  const std::string separator = p.is_set(2) ? p.string(2) : "\n";
  Text out;
  bool first = true;
  for (const std::string_view paragraph : split_lines(text_required("wordwrap", self), false)) {
    if (!std::exchange(first, false)) out.add(separator);
    bool first_line = true;
    for (const std::string& line : wrap_words(runtime, paragraph, options)) {
      if (!std::exchange(first_line, false)) out.add(separator);
      out.add(line);
    }
  }
  return runtime.string(out.take());
}

Value pprint(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  expect_no_arguments("pprint", arguments);
  return runtime.string(pretty_print(runtime, self));
}

constexpr NativeEntry kFilters[] = {{"indent", indent}, {"truncate", truncate}, {"wordwrap", wordwrap}, {"pprint", pprint}};

}  // namespace

std::span<const NativeEntry> layout_filters() { return kFilters; }

}  // namespace headrace::jinja
