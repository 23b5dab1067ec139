#include "jinja/loop.h"

#include "core/error.h"
#include "jinja/operators.h"

namespace headrace::jinja {
namespace {

Value cycle(Runtime&, const Value& self, const CallArguments& arguments) {
  if (arguments.positional.empty()) invalid("loop.cycle: no items for cycling given");
  return arguments.positional[size_t(self.as<LoopObject>().index0()) % arguments.positional.size()];
}

Value changed(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  return Value::boolean(self.as<LoopObject>().changed(runtime, arguments.positional));
}

constexpr NativeEntry kCycle{"cycle", cycle}, kChanged{"changed", changed};

}  // namespace

LoopObject::LoopObject(Runtime& runtime, const Value& items, int depth0)
    : next_(iterate(runtime, items)), sized_(has_length(items) ? items : Value()), depth0_(depth0) {}

void LoopObject::clear() {
  next_ = nullptr;
  body = {};
  sized_ = before_ = current_ = after_ = last_changed_ = Value();
}

bool LoopObject::peek() {
  if (!after_.is_missing()) return true;
  Value item;
  if (!next_(item)) return false;
  after_ = std::move(item);
  return true;
}

bool LoopObject::advance(Value& item) {
  if (!peek()) return false;
  ++index0_;
  before_ = std::move(current_);
  current_ = item = std::exchange(after_, Value());
  return true;
}

int64_t LoopObject::length() {
  if (length_ >= 0) return length_;
  if (!sized_.is_missing()) return length_ = length_of(sized_);
  std::vector<Value> rest;
  Value item;
  while (next_(item)) rest.push_back(std::move(item));
  length_ = int64_t(rest.size()) + index0_ + 1 + !after_.is_missing();
  next_ = [rest = std::move(rest), at = size_t{0}](Value& out) mutable {
    if (at == rest.size()) return false;
    out = rest[at++];
    return true;
  };
  return length_;
}

bool LoopObject::changed(Runtime& runtime, const std::vector<Value>& values) {
  Value now = runtime.tuple(values);
  if (!last_changed_.is_missing() && equal(runtime, last_changed_, now)) return false;
  last_changed_ = std::move(now);
  return true;
}

std::optional<Value> LoopObject::attribute(Runtime& runtime, const Value& self, std::string_view name) {
  if (name == "index") return Value::integer(index0_ + 1);
  if (name == "index0") return Value::integer(index0_);
  if (name == "first") return Value::boolean(index0_ == 0);
  if (name == "last") return Value::boolean(!peek());
  if (name == "length") return Value::integer(length());
  if (name == "revindex") return Value::integer(length() - index0_);
  if (name == "revindex0") return Value::integer(length() - index0_ - 1);
  if (name == "depth") return Value::integer(depth0_ + 1);
  if (name == "depth0") return Value::integer(depth0_);
  if (name == "previtem") return index0_ == 0 ? runtime.undefined("there is no previous item") : before_;
  if (name == "nextitem") return peek() ? after_ : runtime.undefined("there is no next item");
  if (name == "cycle") return runtime.bound_function(kCycle, self);
  if (name == "changed") return runtime.bound_function(kChanged, self);
  return std::nullopt;
}

}  // namespace headrace::jinja
