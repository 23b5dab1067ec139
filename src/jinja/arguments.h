// The arguments of a call sorted into the named places of a signature, as Python does.
#pragma once

#include <array>
#include <initializer_list>

#include "jinja/runtime.h"

namespace headrace::jinja {

class Parameters {
 public:
  // The first `required` of `names` must be given. Throws Error for too many, unknown, doubled or missing arguments.
  Parameters(std::string_view function, const CallArguments& arguments, std::initializer_list<std::string_view> names, size_t required = 0);

  bool has(size_t i) const { return !values_[i].is_missing(); }
  // Given and not None.
  bool is_set(size_t i) const { return has(i) && !values_[i].is_none(); }
  const Value& operator[](size_t i) const { return values_[i]; }
  Value value_or(size_t i, Value fallback) const { return has(i) ? values_[i] : std::move(fallback); }
  int64_t integer_or(size_t i, int64_t fallback) const;
  bool truth_or(size_t i, bool fallback) const;
  // Throws unless it is a string.
  const std::string& string(size_t i) const;

 private:
  static constexpr size_t kMost = 8;
  std::string_view function_;
  std::array<Value, kMost> values_;
};

// Throws Error unless there are no arguments.
void expect_no_arguments(std::string_view function, const CallArguments& arguments);

}  // namespace headrace::jinja
