// The methods of dict, list and tuple that the sandbox allows.
#include <algorithm>
#include <span>

#include "core/error.h"
#include "jinja/arguments.h"
#include "jinja/attributes.h"
#include "jinja/operators.h"
#include "jinja/text_form.h"

namespace headrace::jinja {
namespace {

template <DictViewObject::Part part>
Value view(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  expect_no_arguments("dict method", arguments);
  return Value(runtime.heap.make<DictViewObject>(0, self, part));
}

Value get(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  if (!arguments.named.empty()) invalid("get() takes no keyword arguments");
  const Parameters p("get", arguments, {"key", "default"}, 1);
  const Value* value = self.as<DictObject>().find(runtime, p[0]);
  return value ? *value : p.value_or(1, Value::none());
}

Value copy_dict(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  expect_no_arguments("copy", arguments);
  auto copy = runtime.heap.make<DictObject>(0);
  for (const auto& [key, value] : self.as<DictObject>().items()) copy->set(runtime, key, value);
  return Value(copy);
}

Value fromkeys(Runtime& runtime, const Value&, const CallArguments& arguments) {
  const Parameters p("fromkeys", arguments, {"iterable", "value"}, 1);
  auto dict = runtime.heap.make<DictObject>(0);
  Value key;
  for (const Next next = iterate(runtime, p[0]); next(key);) dict->set(runtime, key, p.value_or(1, Value::none()));
  return Value(dict);
}

Value index(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  const Parameters p("index", arguments, {"value", "start", "stop"}, 1);
  const auto& items = items_of(self);
  const int64_t size = int64_t(items.size());
  const auto bound = [&](size_t i, int64_t fallback) {
    const int64_t at = p.integer_or(i, fallback);
    return std::clamp<int64_t>(at < 0 ? std::max<int64_t>(0, at + size) : at, 0, size);
  };
  for (int64_t i = bound(1, 0), stop = bound(2, size); i < stop; ++i)
    if (equal(runtime, items[size_t(i)], p[0])) return Value::integer(i);
  invalid("index(): the value is not in the {}", type_name(self));
}

Value count(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  const Parameters p("count", arguments, {"value"}, 1);
  const auto& items = items_of(self);
  return Value::integer(std::count_if(items.begin(), items.end(), [&](const Value& item) { return equal(runtime, item, p[0]); }));
}

Value copy_list(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  expect_no_arguments("copy", arguments);
  return runtime.list(items_of(self));
}

constexpr NativeEntry kDictMethods[] = {
    {"items", view<DictViewObject::kItems>},
    {"keys", view<DictViewObject::kKeys>},
    {"values", view<DictViewObject::kValues>},
    {"get", get},
    {"copy", copy_dict},
    {"fromkeys", fromkeys},
};
constexpr NativeEntry kSequenceMethods[] = {{"index", index}, {"count", count}, {"copy", copy_list}};

const NativeEntry* find(std::span<const NativeEntry> methods, std::string_view name) {
  const auto at = std::find_if(methods.begin(), methods.end(), [&](const NativeEntry& e) { return e.name == name; });
  return at == methods.end() ? nullptr : &*at;
}

}  // namespace

const NativeEntry* find_dict_method(std::string_view name) { return find(kDictMethods, name); }
const NativeEntry* find_sequence_method(std::string_view name) { return find(kSequenceMethods, name); }

}  // namespace headrace::jinja
