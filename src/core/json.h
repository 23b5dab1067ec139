// JSON through nlohmann-json, with errors that say where and limits against hostile files.
#pragma once

#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "core/error.h"

namespace headrace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;  // keeps the order of keys: for chat templates

inline constexpr int kMaxJsonDepth = 128;

// `where` names the file or field in the error. Throws Error(kInvalidArgument) for bad JSON, invalid UTF-8 or deep nesting.
// Accepts the bare words NaN, Infinity and -Infinity, which Python writes (as null, and as numbers beyond every finite one).
Json parse_json(std::string_view text, std::string_view where);
OrderedJson parse_ordered_json(std::string_view text, std::string_view where);
// As parse_json, but a key that occurs twice in one object is an error: for files in which the second would hide the first.
Json parse_json_with_unique_keys(std::string_view text, std::string_view where);
Json read_json_file(const std::string& path);

// Whether a JSON integer is one that T can hold.
template <typename T>
bool fits(const Json& integer) {
  return integer.is_number_unsigned() ? std::in_range<T>(integer.get<uint64_t>()) : std::in_range<T>(integer.get<int64_t>());
}

// The value at `key`, or nothing when it is absent or null. Throws when it has another type than T, or does not fit into T.
template <typename T>
std::optional<T> find(const Json& object, const char* key, std::string_view where) {
  if (!object.is_object()) invalid("{}: wanted a JSON object, found {}", where, object.type_name());
  const auto it = object.find(key);
  if (it == object.end() || it->is_null()) return std::nullopt;
  try {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      if (!it->is_number_integer() || !fits<T>(*it)) throw std::invalid_argument("no such integer");
    }
    return it->get<T>();
  } catch (const std::exception&) {
    invalid("{}: '{}' is {}, which has the wrong type or is out of range", where, key,
            printable(it->dump(-1, ' ', false, Json::error_handler_t::replace)));
  }
}

template <typename T>
T find_or(const Json& object, const char* key, T fallback, std::string_view where) {
  return find<T>(object, key, where).value_or(std::move(fallback));
}

template <typename T>
T require(const Json& object, const char* key, std::string_view where) {
  std::optional<T> value = find<T>(object, key, where);
  if (!value) invalid("{}: '{}' is missing", where, key);
  return *std::move(value);
}

}  // namespace headrace
