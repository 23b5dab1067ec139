// The `attribute` argument of many filters: "a.b.0" walks into attributes and items.
#pragma once

#include "jinja/runtime.h"

namespace headrace::jinja {

class AttributePath {
 public:
  AttributePath() = default;  // the value itself
  // A string, an integer, or None for the value itself. `fallback` (if not missing or none) stands in for undefined values.
  AttributePath(Runtime& runtime, const Value& attribute, Value fallback = Value());
  Value get(Runtime& runtime, const Value& item) const;

 private:
  std::vector<Value> parts_;
  Value fallback_;
};

// Strings compare in lower case unless case matters.
Value ignore_case(Runtime& runtime, const Value& value);

}  // namespace headrace::jinja
