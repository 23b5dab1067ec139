// Between JSON and the template's values.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "jinja/runtime.h"

namespace headrace::jinja {

// Invalid UTF-8 becomes U+FFFD; an integer past 63 bits becomes a float. Throws Error when nested too deeply.
Value from_json(Runtime& runtime, const nlohmann::ordered_json& json);

// How json.dumps writes.
struct JsonStyle {
  std::string item_separator = ", ";
  std::string key_separator = ": ";
  std::optional<std::string> indent;  // of one level; none: one line
  bool ensure_ascii = false;
  bool sort_keys = false;
};
std::string to_json(Runtime& runtime, const Value& value, const JsonStyle& style);

}  // namespace headrace::jinja
