// tojson, with the arguments that transformers gives it.
#include "core/error.h"
#include "jinja/arguments.h"
#include "jinja/filters/filters.h"
#include "jinja/json_value.h"
#include "jinja/operators.h"

namespace headrace::jinja {
namespace {

std::optional<std::string> indent_of(const Value& value) {
  if (value.is_none()) return std::nullopt;
  if (value.is_string()) return text_of(value);
  const int64_t width = to_index(value, "tojson: indent");
  return Text().add(width < 0 ? 0 : size_t(width), ' ').take();
}

Value tojson(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  const Parameters p("tojson", arguments, {"ensure_ascii", "indent", "separators", "sort_keys"});
  JsonStyle style;
  style.ensure_ascii = p.truth_or(0, false);
  if (p.has(1)) style.indent = indent_of(p[1]);
  if (style.indent) style.item_separator = ",";
  if (p.is_set(2)) {
    const std::vector<Value> separators = to_vector(runtime, p[2]);
    if (separators.size() != 2 || !separators[0].is_string() || !separators[1].is_string())
      invalid("tojson: separators must be two strings");
    style.item_separator = text_of(separators[0]);
    style.key_separator = text_of(separators[1]);
  }
  style.sort_keys = p.truth_or(3, false);
  return runtime.string(to_json(runtime, self, style));
}

constexpr NativeEntry kFilters[] = {{"tojson", tojson}};

}  // namespace

std::span<const NativeEntry> json_filters() { return kFilters; }

}  // namespace headrace::jinja
