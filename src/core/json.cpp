#include "core/json.h"

#include <algorithm>
#include <unordered_set>

#include "core/mapped_file.h"

namespace headrace {
namespace {

// Nesting is measured before parsing, so that no parser or destructor sees a deep tree; the same walk finds Python's bare words.
std::string checked(std::string_view text, std::string_view where) {
  std::string out;
  size_t copied = 0;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i)
        if (text[i] == '\\') ++i;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxJsonDepth) invalid("{}: JSON nested deeper than {} levels", where, kMaxJsonDepth);
    } else if (c == ']' || c == '}') {
      --depth;
    } else if (c == 'N' || c == 'I') {
      const std::string_view word = c == 'N' ? "NaN" : "Infinity";
      if (text.substr(i, word.size()) != word) continue;
      out.append(text.substr(copied, i - copied)).append(c == 'N' ? "null" : "1e308");
      i += word.size() - 1;
      copied = i + 1;
    }
  }
  return out.append(text.substr(std::min(copied, text.size())));
}

template <typename J>
J parse(std::string_view text, std::string_view where, const typename J::parser_callback_t& callback = nullptr) {
  try {
    return J::parse(checked(text, where), callback);
  } catch (const nlohmann::json::exception& e) {
    invalid("{}: not valid JSON: {}", where, printable(e.what(), 200));
  }
}

}  // namespace

Json parse_json(std::string_view text, std::string_view where) { return parse<Json>(text, where); }
OrderedJson parse_ordered_json(std::string_view text, std::string_view where) { return parse<OrderedJson>(text, where); }

Json parse_json_with_unique_keys(std::string_view text, std::string_view where) {
  std::vector<std::unordered_set<std::string>> keys;  // of the objects that are open
  return parse<Json>(text, where, [&](int, Json::parse_event_t event, const Json& parsed) {
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(parsed.get<std::string>()).second) {
      invalid("{}: the key '{}' occurs twice in one object", where, printable(parsed.get<std::string>()));
    }
    return true;
  });
}

Json read_json_file(const std::string& path) { return parse_json(MappedFile::open(path)->text(), path); }

}  // namespace headrace
