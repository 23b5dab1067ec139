#include "jinja/filters/attribute_path.h"

#include <algorithm>

#include "core/error.h"
#include "jinja/attributes.h"
#include "jinja/unicode.h"

namespace headrace::jinja {

AttributePath::AttributePath(Runtime& runtime, const Value& attribute, Value fallback) : fallback_(std::move(fallback)) {
  if (attribute.is_missing() || attribute.is_none()) return;
  if (!attribute.is_string()) {
    parts_.push_back(attribute);
    return;
  }
  std::string_view path = text_of(attribute);
  while (true) {
    const std::string_view part = path.substr(0, path.find('.'));
    const bool is_number =
        !part.empty() && part.size() <= 18 && std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
    parts_.push_back(is_number ? Value::integer(std::stoll(std::string(part))) : runtime.string(std::string(part)));
    if (part.size() == path.size()) return;
    path.remove_prefix(part.size() + 1);
  }
}

Value AttributePath::get(Runtime& runtime, const Value& item) const {
  Value value = item;
  for (const Value& part : parts_) {
    value = get_item(runtime, value, part);
    if (value.is_undefined() && !fallback_.is_missing() && !fallback_.is_none()) value = fallback_;
  }
  return value;
}

Value ignore_case(Runtime& runtime, const Value& value) { return value.is_string() ? runtime.string(to_lower(text_of(value))) : value; }

}  // namespace headrace::jinja
