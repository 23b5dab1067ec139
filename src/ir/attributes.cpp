#include "headrace/attributes.h"

#include <algorithm>
#include <charconv>

#include "core/error.h"

namespace headrace {
namespace detail {
namespace {

template <typename T>
void parse_number(std::string_view text, T& value, const char* what) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) invalid("'{}' is not {}", printable(text), what);
}

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// The elements of "[a, b, c]".
std::vector<std::string_view> split_list(std::string_view text) {
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') invalid("'{}' is not a list in brackets", printable(text));
  text = text.substr(1, text.size() - 2);
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    std::string_view part = text.substr(0, comma);
    while (!part.empty() && is_space(part.front())) part.remove_prefix(1);
    while (!part.empty() && is_space(part.back())) part.remove_suffix(1);
    parts.push_back(part);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return parts;
}

}  // namespace

std::string to_text(bool value) { return value ? "true" : "false"; }
std::string to_text(int64_t value) { return std::to_string(value); }
std::string to_text(double value) { return fmt::format("{}", value); }  // shortest text that reads back the same
std::string to_text(float value) { return fmt::format("{}", value); }
std::string to_text(const std::vector<int64_t>& values) { return fmt::format("[{}]", fmt::join(values, ", ")); }
std::string to_text(const std::vector<float>& values) { return fmt::format("[{}]", fmt::join(values, ", ")); }
std::string to_text(DType value) { return std::string(name(value)); }
std::string to_text(const Shape& value) { return value.to_string(); }

std::string to_text(const std::string& value) {
  std::string out = "\"";
  for (char c : value) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') out += "\\n";
    else out += c;
  }
  return out + "\"";
}

void from_text(std::string_view text, bool& value) {
  if (text != "true" && text != "false") invalid("'{}' is neither true nor false", printable(text));
  value = text == "true";
}
void from_text(std::string_view text, int64_t& value) { parse_number(text, value, "an integer"); }
void from_text(std::string_view text, double& value) { parse_number(text, value, "a number"); }
void from_text(std::string_view text, float& value) { parse_number(text, value, "a number"); }

void from_text(std::string_view text, std::string& value) {
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') invalid("'{}' is not a string in double quotes", printable(text));
  value.clear();
  for (size_t i = 1; i + 1 < text.size(); ++i) {
    if (text[i] != '\\' || i + 2 >= text.size()) {
      value += text[i];
    } else {
      ++i;
      value += text[i] == 'n' ? '\n' : text[i];
    }
  }
}

void from_text(std::string_view text, std::vector<int64_t>& values) {
  values.clear();
  for (std::string_view part : split_list(text)) from_text(part, values.emplace_back());
}
void from_text(std::string_view text, std::vector<float>& values) {
  values.clear();
  for (std::string_view part : split_list(text)) from_text(part, values.emplace_back());
}
void from_text(std::string_view text, DType& value) {
  const std::optional<DType> parsed = parse_dtype(text);
  if (!parsed) invalid("'{}' is not an element type", printable(text));
  value = *parsed;
}
void from_text(std::string_view text, Shape& value) {
  value = Shape();
  for (std::string_view part : split_list(text)) value.push_back(Dim::parse(part));
}

void fail_enum(std::string_view text, std::span<const std::string_view> names) {
  invalid("'{}' is none of: {}", printable(text), fmt::join(names, ", "));
}

}  // namespace detail

void fail_attribute(std::string_view name, const std::string& why) { invalid("attribute '{}': {}", printable(name), why); }

Attributes::Attributes(const AttributeType* type, std::span<const Field> fields) : type_(type) {
  if (!type) {
    if (!fields.empty()) fail_attribute(fields[0].name, "the op has no attributes");
    return;
  }
  std::shared_ptr<void> object = type->copy(nullptr);
  for (const Field& field : fields) {
    try {
      type->set(object.get(), field);
    } catch (const Error& e) {
      fail_attribute(field.name, e.what());
    }
  }
  object_ = std::move(object);
}

std::vector<Field> Attributes::changed_fields() const {
  if (!type_) return {};
  const std::vector<Field> defaults = type_->get(type_->copy(nullptr).get());
  std::vector<Field> changed;
  for (Field& field : fields())
    if (std::find(defaults.begin(), defaults.end(), field) == defaults.end()) changed.push_back(std::move(field));
  return changed;
}

bool Attributes::operator==(const Attributes& other) const {
  if (type_ != other.type_) return false;
  return object_ == other.object_ || fields() == other.fields();
}

}  // namespace headrace
