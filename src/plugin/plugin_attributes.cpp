#include "plugin/plugin_attributes.h"

#include <algorithm>
#include <cctype>

#include "core/error.h"

namespace headrace {
namespace {

struct PluginField {
  std::string name;
  headrace_field_kind kind;
  std::string initial;
};

struct PluginAttributes {
  const std::vector<PluginField>* fields;
  std::vector<std::string> texts;  // one for each
};

constexpr std::string_view kKindNames[] = {
    "", "a bool", "an integer", "a float", "a string", "a list of integers", "a list of floats", "an element type"};

template <typename T>
std::string canonical_as(std::string_view text) {
  T value{};
  detail::from_text(text, value);
  return detail::to_text(value);
}

// One spelling for each value, so that equal attributes have equal texts. Throws Error(kInvalidArgument).
std::string canonical(headrace_field_kind kind, std::string_view text) {
  switch (kind) {
    case HEADRACE_FIELD_BOOL: return canonical_as<bool>(text);
    case HEADRACE_FIELD_INT: return canonical_as<int64_t>(text);
    case HEADRACE_FIELD_FLOAT: return canonical_as<double>(text);
    case HEADRACE_FIELD_STRING: return canonical_as<std::string>(text);
    case HEADRACE_FIELD_INTS: return canonical_as<std::vector<int64_t>>(text);
    case HEADRACE_FIELD_FLOATS: return canonical_as<std::vector<float>>(text);
    case HEADRACE_FIELD_DTYPE: return canonical_as<DType>(text);
    default: invalid("{} is no kind of attribute", kind);
  }
}

std::vector<Field> get(const void* object) {
  const auto& attributes = *static_cast<const PluginAttributes*>(object);
  std::vector<Field> fields;
  for (size_t i = 0; i < attributes.texts.size(); ++i) fields.push_back({(*attributes.fields)[i].name, attributes.texts[i]});
  return fields;
}

void set(void* object, const Field& field) {
  auto& attributes = *static_cast<PluginAttributes*>(object);
  const auto at = std::ranges::find(*attributes.fields, field.name, &PluginField::name);
  if (at == attributes.fields->end()) fail_attribute(field.name, "the op has no such attribute");
  attributes.texts[size_t(at - attributes.fields->begin())] = canonical(at->kind, field.text);
}

}  // namespace

void check_plugin_name(const char* name, std::string_view what) {
  const std::string_view text = name ? name : "";
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.'; };
  if (text.empty() || !std::isalpha(static_cast<unsigned char>(text[0])) || !std::ranges::all_of(text, is_part))
    invalid("'{}' is no name for {}: letters, digits, '_', '-' and '.' are wanted, a letter first", printable(text), what);
}

std::shared_ptr<const AttributeType> make_attribute_type(std::span<const headrace_field> fields) {
  if (fields.empty()) return nullptr;
  const auto known = std::make_shared<std::vector<PluginField>>();
  for (const headrace_field& f : fields) {
    check_plugin_name(f.name, "an attribute");
    if (std::ranges::find(*known, f.name, &PluginField::name) != known->end()) invalid("two attributes are called '{}'", f.name);
    if (!f.initial) fail_attribute(f.name, "has no default");
    try {
      known->push_back({f.name, f.kind, canonical(f.kind, f.initial)});
    } catch (const Error& e) {
      fail_attribute(f.name, std::string("its default: ") + e.what());
    }
  }
  const auto copy = [known](const void* object) -> std::shared_ptr<void> {
    if (object) return std::make_shared<PluginAttributes>(*static_cast<const PluginAttributes*>(object));
    PluginAttributes defaults{known.get(), {}};
    for (const PluginField& f : *known) defaults.texts.push_back(f.initial);
    return std::make_shared<PluginAttributes>(std::move(defaults));
  };
  return std::make_shared<const AttributeType>(AttributeType{typeid(PluginAttributes), get, set, copy});
}

std::string attribute_text(const Attributes& attributes, const std::string& name, headrace_field_kind kind) {
  if (kind && attributes.type() && attributes.type()->type == typeid(PluginAttributes)) {
    const std::vector<PluginField>& fields = *attributes.as<PluginAttributes>().fields;
    const auto at = std::ranges::find(fields, name, &PluginField::name);
    if (at != fields.end() && at->kind != kind)
      fail_attribute(name, fmt::format("is {}, and was asked for as {}", kKindNames[at->kind], kKindNames[kind]));
  }
  for (Field& field : attributes.fields())
    if (field.name == name) return std::move(field.text);
  fail_attribute(name, "the op has no such attribute");
}

}  // namespace headrace
