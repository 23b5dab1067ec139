#include "core/json.h"

#include <algorithm>
#include <unordered_map>

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

[[noreturn]] void refuse(std::string_view where, const char* why) { invalid("{}: not valid JSON: {}", where, printable(why, 200)); }

// Makes the tree while the parser reads, in time linear in the text. The library's own ways are quadratic in the keys of one object where
// keys are to keep their order (each is looked for among all before it) or are checked by a callback (whatever ends, all are walked over).
template <typename J>
class TreeBuilder {
 public:
  TreeBuilder(std::string_view where, bool unique_keys) : where_(where), unique_keys_(unique_keys) {}
  J take() { return std::move(root_); }

  // What the parser calls.
  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(typename J::number_integer_t value) { return add(value); }
  bool number_unsigned(typename J::number_unsigned_t value) { return add(value); }
  bool number_float(typename J::number_float_t value, const std::string&) { return add(value); }
  bool string(std::string& value) { return add(std::move(value)); }
  bool binary(typename J::binary_t&) { return false; }
  bool start_object(size_t) { return open(J::object()); }
  bool start_array(size_t) { return open(J::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& name) {
    Level& level = levels_.back();
    const auto [at, is_new] = level.keys.emplace(name, level.keys.size());
    if (!is_new && unique_keys_) invalid("{}: the key '{}' occurs twice in one object", where_, printable(name));
    level.slot = slot(level.value->template get_ref<typename J::object_t&>(), name, at->second, is_new);
    return true;
  }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception& e) { refuse(where_, e.what()); }

 private:
  struct Level {
    J* value;  // stays where it is: only the innermost level grows
    J* slot = nullptr;
    std::unordered_map<std::string, size_t> keys;  // of an object, and their places in it
  };

  static J* slot(Json::object_t& object, const std::string& name, size_t, bool) { return &object[name]; }
  static J* slot(OrderedJson::object_t& object, const std::string& name, size_t at, bool is_new) {
    OrderedJson::object_t::Container& entries = object;
    if (is_new) entries.emplace_back(name, nullptr);
    return &entries[at].second;  // the last of equal keys counts
  }

  J* place(J value) {
    if (levels_.empty()) return &(root_ = std::move(value));
    Level& level = levels_.back();
    if (!level.value->is_array()) return &(*level.slot = std::move(value));
    auto& items = level.value->template get_ref<typename J::array_t&>();
    items.push_back(std::move(value));
    return &items.back();
  }
  bool add(J value) { return place(std::move(value)), true; }
  bool open(J value) {
    J* placed = place(std::move(value));
    levels_.push_back({.value = placed, .slot = nullptr, .keys = {}});
    return true;
  }
  bool close() { return levels_.pop_back(), true; }

  std::string_view where_;
  bool unique_keys_;
  J root_;
  std::vector<Level> levels_;
};

template <typename J>
J build(std::string_view text, std::string_view where, bool unique_keys) {
  TreeBuilder<J> builder(where, unique_keys);
  J::sax_parse(checked(text, where), &builder);
  return builder.take();
}

}  // namespace

Json parse_json(std::string_view text, std::string_view where) {
  try {
    return Json::parse(checked(text, where));
  } catch (const nlohmann::json::exception& e) {
    refuse(where, e.what());
  }
}
OrderedJson parse_ordered_json(std::string_view text, std::string_view where) { return build<OrderedJson>(text, where, false); }

Json parse_json_with_unique_keys(std::string_view text, std::string_view where) { return build<Json>(text, where, true); }

Json read_json_file(const std::string& path) { return parse_json(MappedFile::open(path)->text(), path); }

}  // namespace headrace
