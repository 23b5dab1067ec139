// Attributes of ops: plain structs with one field list, from which printing, parsing, comparing and hashing follow:
//   struct RmsNorm { float eps = 1e-6f; void fields(auto&& f) { f("eps", eps); } };
// A field is a bool, an integer, a float, a string, a list of integers or floats, a DType, a Shape, an enum E for which
// enum_names(E) returns the names of its values in order, or a T of its own with `std::string to_text() const` (a word, or text in quotes,
// brackets or braces) and `static T from_text(std::string_view)`.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <vector>

#include "headrace/types.h"

namespace headrace {

struct Field {
  std::string name, text;
  bool operator==(const Field&) const = default;
};

namespace detail {

std::string to_text(bool value);
std::string to_text(int64_t value);
std::string to_text(double value);
std::string to_text(float value);
std::string to_text(const std::string& value);
std::string to_text(const std::vector<int64_t>& values);
std::string to_text(const std::vector<float>& values);
std::string to_text(DType value);
std::string to_text(const Shape& value);

// Throw Error(kInvalidArgument) when the text is no such value.
void from_text(std::string_view text, bool& value);
void from_text(std::string_view text, int64_t& value);
void from_text(std::string_view text, double& value);
void from_text(std::string_view text, float& value);
void from_text(std::string_view text, std::string& value);
void from_text(std::string_view text, std::vector<int64_t>& values);
void from_text(std::string_view text, std::vector<float>& values);
void from_text(std::string_view text, DType& value);
void from_text(std::string_view text, Shape& value);
[[noreturn]] void fail_enum(std::string_view text, std::span<const std::string_view> names);

template <typename T>
concept HasText = requires(const T& value, std::string_view text) {
  { value.to_text() } -> std::same_as<std::string>;
  { T::from_text(text) } -> std::same_as<T>;
};

template <typename T>
std::string field_text(const T& value) {
  if constexpr (HasText<T>) return value.to_text();
  else if constexpr (std::is_enum_v<T> && !std::is_same_v<T, DType>) return std::string(enum_names(value)[size_t(value)]);
  else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) return to_text(int64_t{value});
  else return to_text(value);
}

template <typename T>
void parse_field(std::string_view text, T& value) {
  if constexpr (HasText<T>) {
    value = T::from_text(text);
  } else if constexpr (std::is_enum_v<T> && !std::is_same_v<T, DType>) {
    const std::span<const std::string_view> names = enum_names(value);
    for (size_t i = 0; i < names.size(); ++i)
      if (names[i] == text) return void(value = T(i));
    fail_enum(text, names);
  } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    int64_t wide = 0;
    from_text(text, wide);
    if (wide != int64_t(T(wide))) throw Error(ErrorCode::kInvalidArgument, std::string(text) + " does not fit the attribute's type");
    value = T(wide);
  } else {
    from_text(text, value);
  }
}

}  // namespace detail

// How to handle one attribute struct without knowing its type.
struct AttributeType {
  const std::type_info& type;
  std::vector<Field> (*get)(const void*);
  void (*set)(void*, const Field&);                        // throws Error(kInvalidArgument) for an unknown name or a bad value
  std::function<std::shared_ptr<void>(const void*)> copy;  // of defaults when null
};

[[noreturn]] void fail_attribute(std::string_view name, const std::string& why);

template <typename T>
const AttributeType& attribute_type() {
  static const AttributeType type{
      typeid(T),
      [](const void* object) {
        std::vector<Field> fields;
        const_cast<T*>(static_cast<const T*>(object))->fields([&](const char* name, auto& value) {
          fields.push_back({name, detail::field_text(value)});
        });
        return fields;
      },
      [](void* object, const Field& field) {
        bool found = false;
        static_cast<T*>(object)->fields([&](const char* name, auto& value) {
          if (field.name != name) return;
          found = true;
          detail::parse_field(field.text, value);
        });
        if (!found) fail_attribute(field.name, "the op has no such attribute");
      },
      [](const void* object) -> std::shared_ptr<void> {
        return object ? std::make_shared<T>(*static_cast<const T*>(object)) : std::make_shared<T>();
      },
  };
  return type;
}

// An attribute struct of any type, or none. A value: copies are independent, for the struct inside never changes.
class Attributes {
 public:
  Attributes() = default;
  template <typename T>
  requires(!std::is_same_v<std::remove_cvref_t<T>, Attributes>) Attributes(T object)
      : type_(&attribute_type<T>()), object_(std::make_shared<T>(std::move(object))) {}  // NOLINT: T is an attribute struct
  // Defaults of `type`, then `fields` set over them.
  Attributes(const AttributeType* type, std::span<const Field> fields);

  const AttributeType* type() const { return type_; }
  template <typename T>
  const T& as() const {
    if (!type_ || type_->type != typeid(T)) fail_attribute(typeid(T).name(), "the node has attributes of another type");
    return *static_cast<const T*>(object_.get());
  }
  std::vector<Field> fields() const { return type_ ? type_->get(object_.get()) : std::vector<Field>(); }
  std::vector<Field> changed_fields() const;  // those that differ from their defaults
  bool operator==(const Attributes& other) const;

 private:
  const AttributeType* type_ = nullptr;
  std::shared_ptr<const void> object_;
};

}  // namespace headrace
