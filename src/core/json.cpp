#include "core/json.h"

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
J parse(std::string_view text, std::string_view where) {
  try {
    return J::parse(checked(text, where));
  } catch (const nlohmann::json::exception& e) {
    invalid("{}: not valid JSON: {}", where, printable(e.what(), 200));
  }
}

}  // namespace

Json parse_json(std::string_view text, std::string_view where) { return parse<Json>(text, where); }
OrderedJson parse_ordered_json(std::string_view text, std::string_view where) { return parse<OrderedJson>(text, where); }

Json read_json_file(const std::string& path) { return parse_json(MappedFile::open(path)->text(), path); }

}  // namespace headrace
