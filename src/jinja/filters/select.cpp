// Filters that apply other filters or tests to each item. Lazy, as jinja2's.
#include "core/error.h"
#include "jinja/arguments.h"
#include "jinja/filters/attribute_path.h"
#include "jinja/filters/filters.h"
#include "jinja/operators.h"
#include "jinja/tests.h"
#include "jinja/text_form.h"

namespace headrace::jinja {
namespace {

using Transform = std::function<Value(const Value&)>;

const std::string& name_of(const Value& value, std::string_view what) {
  require_defined(value);
  if (!value.is_string()) invalid("the name of a {} must be str, not {}", what, type_name(value));
  return text_of(value);
}

CallArguments without_first(const CallArguments& arguments, size_t count) {
  CallArguments rest = arguments;
  rest.positional.erase(rest.positional.begin(), rest.positional.begin() + long(std::min(count, rest.positional.size())));
  return rest;
}

Transform map_transform(Runtime& runtime, const CallArguments& arguments) {
  Runtime* const rt = &runtime;
  if (arguments.positional.empty()) {
    const Parameters p("map", arguments, {"attribute", "default"});
    if (!p.has(0)) invalid("map: wanted the name of a filter, or attribute=...");
    return [rt, path = AttributePath(runtime, p[0], p[1])](const Value& item) { return path.get(*rt, item); };
  }
  const std::string& name = name_of(arguments.positional[0], "filter");
  const NativeFunction function = find_filter(name);
  if (!function) invalid("map: there is no filter named '{}'", printable(name));
  return [rt, function, rest = without_first(arguments, 1)](const Value& item) {
    rt->step_through(item);
    return function(*rt, item, rest);
  };
}

Value map(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  if (!truth(self)) return runtime.generator(nullptr);
  return runtime.generator([rt = &runtime, self, arguments, transform = Transform(), next = Next()](Value& out) mutable {
    if (!next) transform = map_transform(*rt, arguments), next = iterate(*rt, self);
    Value item;
    if (!next(item)) return false;
    out = transform(item);
    return true;
  });
}

Transform test_of(Runtime& runtime, const CallArguments& arguments, bool of_attribute) {
  Runtime* const rt = &runtime;
  const size_t skip = of_attribute ? 1 : 0;
  if (arguments.positional.size() < skip) invalid("wanted the name of an attribute");
  const AttributePath path = of_attribute ? AttributePath(runtime, arguments.positional[0]) : AttributePath();
  if (arguments.positional.size() == skip) return [rt, path](const Value& item) { return Value::boolean(truth(path.get(*rt, item))); };
  const std::string& name = name_of(arguments.positional[skip], "test");
  const NativeFunction function = find_test(name);
  if (!function) invalid("there is no test named '{}'", printable(name));
  return [rt, path, function, rest = without_first(arguments, skip + 1)](const Value& item) {
    return function(*rt, path.get(*rt, item), rest);
  };
}

struct Choice {
  bool keeps;  // items that pass the test
  bool of_attribute;
};

template <Choice choice>
Value choose(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  if (!truth(self)) return runtime.generator(nullptr);
  return runtime.generator([rt = &runtime, self, arguments, test = Transform(), next = Next()](Value& out) mutable {
    if (!next) test = test_of(*rt, arguments, choice.of_attribute), next = iterate(*rt, self);
    while (next(out))
      if (truth(test(out)) == choice.keeps) return true;
    return false;
  });
}

constexpr NativeEntry kFilters[] = {
    {"map", map},
    {"select", choose<Choice{true, false}>},
    {"reject", choose<Choice{false, false}>},
    {"selectattr", choose<Choice{true, true}>},
    {"rejectattr", choose<Choice{false, true}>},
};

}  // namespace

std::span<const NativeEntry> select_filters() { return kFilters; }

}  // namespace headrace::jinja
