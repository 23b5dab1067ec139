// The `loop` variable.
#pragma once

#include "jinja/runtime.h"

namespace headrace::jinja {

// Renders the body of a recursive loop over other items.
class LoopBody : public Object {
 public:
  virtual Value render(Runtime& runtime, const Value& items, int depth0) = 0;
};

class LoopObject : public Object {
 public:
  static constexpr Kind kKind = Kind::kLoop;
  // `items` gives the length when it has one; otherwise what is left is collected when the length is asked for.
  LoopObject(Runtime& runtime, const Value& items, int depth0);
  void clear() override;

  // The next item; false at the end.
  bool advance(Value& item);
  int64_t length();
  // index, first, last, previtem ...; nothing when there is no such attribute.
  std::optional<Value> attribute(Runtime& runtime, const Value& self, std::string_view name);
  int depth0() const { return depth0_; }
  bool changed(Runtime& runtime, const std::vector<Value>& values);
  int64_t index0() const { return index0_; }

  Ref<LoopBody> body;  // of a recursive loop

 private:
  bool peek();

  Next next_;
  Value sized_;  // what length() measures
  Value before_, current_, after_, last_changed_;
  int64_t index0_ = -1;
  int64_t length_ = -1;
  int depth0_;
};

}  // namespace headrace::jinja
