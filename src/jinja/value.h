// A value of the template language: Python's, as far as templates can see. Cheap to copy; belongs to one rendering.
// Integers have 64 bits: arithmetic that leaves them is an error.
#pragma once

#include <bit>

#include "jinja/heap.h"

namespace headrace::jinja {

// clang-format off
enum class Kind : uint8_t {
  kMissing,  // no value at all: an argument that was not given
  kUndefined, kNone, kBool, kInt, kFloat,
  kString, kList, kTuple, kDict, kDictView, kRange, kGenerator, kNamespace, kFunction, kLoop,
};
// clang-format on

class Value {
 public:
  Value() = default;
  static Value none() { return Value(Kind::kNone, 0); }
  static Value boolean(bool b) { return Value(Kind::kBool, b); }
  static Value integer(int64_t i) { return Value(Kind::kInt, i); }
  static Value real(double d) { return Value(Kind::kFloat, std::bit_cast<int64_t>(d)); }
  // The type of an object is given by the kind: see objects.h.
  Value(Kind kind, Ref<Object> object) : kind_(kind), object_(std::move(object)) {}
  template <typename T>
  explicit Value(const Ref<T>& object) : Value(T::kKind, Ref<Object>(object.get())) {}

  Kind kind() const { return kind_; }
  bool is(Kind kind) const { return kind_ == kind; }
  bool is_missing() const { return is(Kind::kMissing); }
  bool is_undefined() const { return is(Kind::kUndefined); }
  bool is_none() const { return is(Kind::kNone); }
  bool is_string() const { return is(Kind::kString); }
  bool is_integral() const { return is(Kind::kInt) || is(Kind::kBool); }  // Python's bool is an int
  bool is_number() const { return is_integral() || is(Kind::kFloat); }
  bool is_sequence() const { return is(Kind::kList) || is(Kind::kTuple); }

  bool as_bool() const { return bits_ != 0; }
  int64_t as_int() const { return bits_; }
  double as_float() const { return std::bit_cast<double>(bits_); }
  double number() const { return is(Kind::kFloat) ? as_float() : double(bits_); }
  Object* object() const { return object_.get(); }
  template <typename T>
  T& as() const {
    return static_cast<T&>(*object_);
  }

 private:
  Value(Kind kind, int64_t bits) : kind_(kind), bits_(bits) {}
  Kind kind_ = Kind::kMissing;
  int64_t bits_ = 0;
  Ref<Object> object_;
};

}  // namespace headrace::jinja
