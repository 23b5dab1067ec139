#include "jinja/attributes.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "jinja/arguments.h"
#include "jinja/loop.h"
#include "jinja/operators.h"
#include "jinja/text_form.h"
#include "jinja/unicode.h"

namespace headrace::jinja {
namespace {

// As jinja2 names an object in the message of an undefined value.
std::string object_name(const Value& object) {
  return object.is_none() ? "None" : fmt::format("{} object", is_markup(object) ? "markupsafe.Markup" : type_name(object));
}

Value unsafe(Runtime& runtime, const Value& object, std::string_view name) {
  return runtime.undefined(fmt::format("access to attribute '{}' of '{}' object is unsafe.", name, type_name(object)));
}

bool contains_name(std::initializer_list<std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// What every Python object has.
bool is_object_internal(std::string_view name) {
  return contains_name(
      {"__class__",        "__delattr__",  "__dir__",         "__doc__",    "__eq__",        "__format__",        "__ge__",
       "__getattribute__", "__getstate__", "__gt__",          "__hash__",   "__init__",      "__init_subclass__", "__le__",
       "__lt__",           "__ne__",       "__new__",         "__reduce__", "__reduce_ex__", "__repr__",          "__setattr__",
       "__sizeof__",       "__str__",      "__subclasshook__"},
      name);
}

bool changes_dict(std::string_view name) { return contains_name({"clear", "pop", "popitem", "setdefault", "update"}, name); }
bool changes_list(std::string_view name) {
  return contains_name({"append", "clear", "pop", "reverse", "insert", "sort", "extend", "remove"}, name);
}

Value is_integer(Runtime&, const Value& self, const CallArguments& arguments) {
  expect_no_arguments("is_integer", arguments);
  return Value::boolean(std::isfinite(self.as_float()) && self.as_float() == std::floor(self.as_float()));
}

Value bit_length(Runtime&, const Value& self, const CallArguments& arguments) {
  expect_no_arguments("bit_length", arguments);
  const uint64_t magnitude = self.as_int() < 0 ? 0 - uint64_t(self.as_int()) : uint64_t(self.as_int());
  return Value::integer(int64_t(std::bit_width(magnitude)));
}

constexpr NativeEntry kIsInteger{"is_integer", is_integer}, kBitLength{"bit_length", bit_length};

std::optional<Value> number_attribute(Runtime& runtime, const Value& object, std::string_view name) {
  if (name == "real") return object.is(Kind::kBool) ? Value::integer(object.as_int()) : object;
  if (name == "imag") return object.is(Kind::kFloat) ? Value::real(0) : Value::integer(0);
  if (object.is(Kind::kFloat)) return name == "is_integer" ? std::optional(runtime.bound_function(kIsInteger, object)) : std::nullopt;
  if (name == "numerator") return Value::integer(object.as_int());
  if (name == "denominator") return Value::integer(1);
  if (name == "bit_length") return runtime.bound_function(kBitLength, object);
  return std::nullopt;
}

std::optional<Value> method(Runtime& runtime, const Value& object, const NativeEntry* entry) {
  if (!entry) return std::nullopt;
  return runtime.bound_function(*entry, object);
}

// The item of a list, tuple, range or string at an index that may be negative.
std::optional<Value> element(Runtime& runtime, const Value& object, int64_t index) {
  const int64_t size = length_of(object);
  if (index < 0) index += size;
  if (index < 0 || index >= size) return std::nullopt;
  if (object.is(Kind::kRange)) return Value::integer(object.as<RangeObject>().at(index));
  if (object.is_sequence()) return items_of(object)[size_t(index)];
  return slice(runtime, object, Value::integer(index), Value::integer(index + 1), Value());
}

bool is_hashable(const Value& value) {
  if (value.is(Kind::kTuple)) return std::all_of(items_of(value).begin(), items_of(value).end(), is_hashable);
  return !value.is(Kind::kList) && !value.is(Kind::kDict) && !value.is(Kind::kDictView);
}

std::optional<Value> python_item(Runtime& runtime, const Value& object, const Value& key) {
  switch (object.kind()) {
    case Kind::kUndefined: fail_undefined(object);
    case Kind::kDict:
      if (!is_hashable(key)) return std::nullopt;
      if (const Value* value = object.as<DictObject>().find(runtime, key)) return *value;
      return std::nullopt;
    case Kind::kString:
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kRange:
      if (key.is_integral()) return element(runtime, object, key.as_int());
      return std::nullopt;
    default: return std::nullopt;
  }
}

}  // namespace

std::optional<Value> python_attribute(Runtime& runtime, const Value& object, std::string_view name) {
  if (name.starts_with("__") && !object.is_undefined() && is_object_internal(name)) return unsafe(runtime, object, name);
  switch (object.kind()) {
    case Kind::kUndefined:
      if (name.size() >= 4 && name.starts_with("__") && name.ends_with("__")) return std::nullopt;
      fail_undefined(object);
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kFloat: return number_attribute(runtime, object, name);
    case Kind::kString: return method(runtime, object, find_string_method(name));
    case Kind::kDict: return changes_dict(name) ? unsafe(runtime, object, name) : method(runtime, object, find_dict_method(name));
    case Kind::kList: return changes_list(name) ? unsafe(runtime, object, name) : method(runtime, object, find_sequence_method(name));
    case Kind::kTuple:
      if (object.as<TupleObject>().is_group && name == "grouper") return items_of(object)[0];
      if (object.as<TupleObject>().is_group && name == "list") return items_of(object)[1];
      return name == "copy" ? std::nullopt : method(runtime, object, find_sequence_method(name));
    case Kind::kNamespace:
      if (const Value* value = object.as<NamespaceObject>().attributes->find(name)) return *value;
      return std::nullopt;
    case Kind::kRange:
      if (name == "start") return Value::integer(object.as<RangeObject>().start);
      if (name == "stop") return Value::integer(object.as<RangeObject>().stop);
      if (name == "step") return Value::integer(object.as<RangeObject>().step);
      if (name != "index" && name != "count") return std::nullopt;
      return method(runtime, runtime.list(to_vector(runtime, object)), find_sequence_method(name));
    case Kind::kFunction: return object.as<FunctionObject>().attribute(runtime, name);
    case Kind::kLoop: return object.as<LoopObject>().attribute(runtime, object, name);
    default: return std::nullopt;
  }
}

Value get_attribute(Runtime& runtime, const Value& object, std::string_view name) {
  if (auto value = python_attribute(runtime, object, name)) return *std::move(value);
  if (object.is(Kind::kDict))
    if (const Value* value = object.as<DictObject>().find(name)) return *value;
  if (object.is_undefined()) fail_undefined(object);
  return runtime.undefined(fmt::format("'{}' has no attribute '{}'", object_name(object), printable(name)));
}

Value get_item(Runtime& runtime, const Value& object, const Value& key) {
  if (auto value = python_item(runtime, object, key)) return *std::move(value);
  if (!key.is_string()) return runtime.undefined(fmt::format("{} has no element {}", object_name(object), printable(repr(runtime, key))));
  if (auto value = python_attribute(runtime, object, text_of(key))) return *std::move(value);
  return runtime.undefined(fmt::format("'{}' has no attribute '{}'", object_name(object), printable(text_of(key))));
}

Value call(Runtime& runtime, const Value& callee, CallArguments& arguments) {
  runtime.step();
  const Runtime::Nested nested(runtime);
  require_defined(callee);
  if (callee.is(Kind::kFunction)) return callee.as<FunctionObject>().call(runtime, arguments);
  if (!callee.is(Kind::kLoop)) invalid("'{}' object is not callable", type_name(callee));
  auto& loop = callee.as<LoopObject>();
  if (!loop.body) invalid("the loop must have the 'recursive' marker to be called");
  const Parameters p("loop", arguments, {"iterable"}, 1);
  return loop.body->render(runtime, p[0], loop.depth0() + 1);
}

}  // namespace headrace::jinja
