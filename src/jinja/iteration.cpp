// Truth, length, iteration and slices.
#include "core/error.h"
#include "core/utf8.h"
#include "jinja/loop.h"
#include "jinja/operators.h"
#include "jinja/text_form.h"
#include "jinja/unicode.h"

namespace headrace::jinja {
namespace {

// The item at a valid index of a list, tuple or range.
Value item_at(const Value& value, int64_t i) {
  return value.is(Kind::kRange) ? Value::integer(value.as<RangeObject>().at(i)) : items_of(value)[size_t(i)];
}

Value view_item(Runtime& runtime, const DictViewObject& view, const std::pair<Value, Value>& item) {
  switch (view.part) {
    case DictViewObject::kKeys: return item.first;
    case DictViewObject::kValues: return item.second;
    default: return runtime.pair(item.first, item.second);
  }
}

// start, step and number of items of a slice, as Python cuts it.
struct Cut {
  int64_t start, stop, step, count;
};

Cut cut(int64_t length, const Value& start, const Value& stop, const Value& step_value) {
  const auto given = [](const Value& v) { return !v.is_missing() && !v.is_none(); };
  const int64_t step = given(step_value) ? to_index(step_value, "slice step") : 1;
  if (step == 0) invalid("slice step cannot be zero");
  const int64_t lowest = step < 0 ? -1 : 0, highest = step < 0 ? length - 1 : length;
  const auto bound = [&](const Value& value, int64_t fallback) {
    if (!given(value)) return fallback;
    const int64_t i = to_index(value, "slice index");
    return std::clamp(i < 0 ? (i < -length ? lowest : i + length) : i, lowest, highest);
  };
  const int64_t from = bound(start, step < 0 ? highest : lowest), to = bound(stop, step < 0 ? lowest : highest);
  const uint64_t stride = step < 0 ? 0 - uint64_t(step) : uint64_t(step);
  const int64_t distance = step < 0 ? from - to : to - from;
  return {from, to, step, distance <= 0 ? 0 : int64_t((uint64_t(distance) - 1) / stride) + 1};
}

Value slice_string(Runtime& runtime, const Value& value, const Cut& c) {
  auto& string = value.as<StringObject>();
  if (length(string) != int64_t(string.text.size())) runtime.step_through(value);  // characters have to be counted
  if (c.step == 1) {
    const size_t from = byte_offset(string, c.count ? c.start : 0), to = byte_offset(string, c.count ? c.start + c.count : 0);
    return runtime.string(string.text.substr(from, to - from), string.is_markup);
  }
  const std::vector<uint32_t> codepoints = decode(string.text);
  std::string out;
  for (int64_t k = 0, i = c.start; k < c.count; ++k) {
    append_utf8(out, codepoints[size_t(i)]);
    if (k + 1 < c.count) i += c.step;
  }
  return runtime.string(std::move(out), string.is_markup);
}

}  // namespace

bool truth(const Value& value) {
  switch (value.kind()) {
    case Kind::kMissing:
    case Kind::kUndefined:
    case Kind::kNone: return false;
    case Kind::kBool:
    case Kind::kInt: return value.as_int() != 0;
    case Kind::kFloat: return value.as_float() != 0;
    case Kind::kGenerator:
    case Kind::kNamespace:
    case Kind::kFunction: return true;
    case Kind::kString: return !text_of(value).empty();
    default: return length_of(value) != 0;
  }
}

bool has_length(const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
    case Kind::kString:
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kDict:
    case Kind::kDictView:
    case Kind::kRange:
    case Kind::kLoop: return true;
    default: return false;
  }
}

bool is_iterable(const Value& value) { return has_length(value) || value.is(Kind::kGenerator); }

int64_t length_of(const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined: return 0;
    case Kind::kString: return length(value.as<StringObject>());
    case Kind::kList:
    case Kind::kTuple: return int64_t(items_of(value).size());
    case Kind::kDict: return int64_t(value.as<DictObject>().items().size());
    case Kind::kDictView: return length_of(value.as<DictViewObject>().dict);
    case Kind::kRange: return value.as<RangeObject>().length;
    case Kind::kLoop: return value.as<LoopObject>().length();
    default: invalid("object of type '{}' has no len()", type_name(value));
  }
}

Next iterate(Runtime& runtime, const Value& value) {
  Runtime* const rt = &runtime;
  switch (value.kind()) {
    case Kind::kUndefined: return [](Value&) { return false; };
    case Kind::kString:
      return [rt, value, at = size_t{0}](Value& out) mutable {
        const auto& string = value.as<StringObject>();
        if (at >= string.text.size()) return false;
        const size_t size = size_t(decode_utf8(string.text, at).length);
        out = rt->string(string.text.substr(at, size));  // a Markup's characters are plain
        at += size;
        rt->step();
        return true;
      };
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kRange:
      return [rt, value, length = length_of(value), at = int64_t{0}](Value& out) mutable {
        if (at >= length) return false;
        rt->step();
        out = item_at(value, at++);
        return true;
      };
    case Kind::kDict: return iterate(runtime, Value(runtime.heap.make<DictViewObject>(0, value, DictViewObject::kKeys)));
    case Kind::kDictView:
      return [rt, value, at = size_t{0}](Value& out) mutable {
        const auto& view = value.as<DictViewObject>();
        const auto& items = view.dict.as<DictObject>().items();
        if (at >= items.size()) return false;
        rt->step();
        out = view_item(*rt, view, items[at++]);
        return true;
      };
    case Kind::kGenerator:
      return [rt, value](Value& out) {
        rt->step();
        const Runtime::Nested nested(*rt);
        auto& next = value.as<GeneratorObject>().next;
        if (next && next(out)) return true;
        next = nullptr;
        return false;
      };
    default: invalid("'{}' object is not iterable", type_name(value));
  }
}

std::vector<Value> to_vector(Runtime& runtime, const Value& value) {
  if (value.is_sequence()) {
    runtime.step(items_of(value).size());
    return items_of(value);
  }
  std::vector<Value> items;
  Value item;
  for (const Next next = iterate(runtime, value); next(item);) items.push_back(std::move(item));
  return items;
}

Next iterate_backwards(Runtime& runtime, const Value& value) {
  if (!has_length(value) || value.is(Kind::kLoop)) invalid("'{}' object is not reversible", type_name(value));
  return [items = to_vector(runtime, value)](Value& out) mutable {
    if (items.empty()) return false;
    out = std::move(items.back());
    items.pop_back();
    return true;
  };
}

Value slice(Runtime& runtime, const Value& object, const Value& start, const Value& stop, const Value& step) {
  require_defined(object);
  if (!object.is_string() && !object.is_sequence() && !object.is(Kind::kRange)) invalid("'{}' object cannot be sliced", type_name(object));
  const Cut c = cut(length_of(object), start, stop, step);
  runtime.step(size_t(c.count));
  if (object.is_string()) return slice_string(runtime, object, c);
  if (object.is(Kind::kRange)) {
    const auto& range = object.as<RangeObject>();
    int64_t step = 0;
    if (__builtin_mul_overflow(range.step, c.step, &step)) invalid("the step of a range does not fit 64 bits");
    return Value(runtime.heap.make<RangeObject>(0, range.at(c.start), range.at(c.stop), step, c.count));
  }
  std::vector<Value> items;
  items.reserve(size_t(c.count));
  for (int64_t k = 0, i = c.start; k < c.count; ++k) {
    items.push_back(items_of(object)[size_t(i)]);
    if (k + 1 < c.count) i += c.step;
  }
  return object.is(Kind::kList) ? runtime.list(std::move(items)) : runtime.tuple(std::move(items));
}

void fail_undefined(const Value& undefined) {
  if (!undefined.object()) invalid("a value is undefined");
  invalid("{}", undefined.as<UndefinedObject>().message);
}

void require_defined(const Value& value) {
  if (value.is_undefined()) fail_undefined(value);
}

int64_t to_index(const Value& value, std::string_view what) {
  require_defined(value);
  if (!value.is_integral()) invalid("{}: wanted an integer, found '{}'", what, type_name(value));
  return value.as_int();
}

}  // namespace headrace::jinja
