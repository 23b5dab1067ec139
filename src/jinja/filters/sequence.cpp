// Filters on sequences that need no order: join, first, last, batch, slice ...
#include "core/error.h"
#include "jinja/arguments.h"
#include "jinja/attributes.h"
#include "jinja/filters/attribute_path.h"
#include "jinja/filters/filters.h"
#include "jinja/operators.h"
#include "jinja/text_form.h"

namespace headrace::jinja {
namespace {

Value length(Runtime&, const Value& self, const CallArguments& arguments) {
  expect_no_arguments("length", arguments);
  return Value::integer(length_of(self));
}

Value list(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  expect_no_arguments("list", arguments);
  return runtime.list(to_vector(runtime, self));
}

Value first(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  expect_no_arguments("first", arguments);
  Value item;
  return iterate(runtime, self)(item) ? item : runtime.undefined("No first item, sequence was empty.");
}

Value last(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  expect_no_arguments("last", arguments);
  Value item;
  return iterate_backwards(runtime, self)(item) ? item : runtime.undefined("No last item, sequence was empty.");
}

Value reverse(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  expect_no_arguments("reverse", arguments);
  if (self.is_string()) return slice(runtime, self, Value(), Value(), Value::integer(-1));
  if (self.is_undefined() || self.is(Kind::kGenerator)) {
    std::vector<Value> items = to_vector(runtime, self);
    return runtime.list({items.rbegin(), items.rend()});
  }
  return runtime.generator(iterate_backwards(runtime, self));
}

Value join(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  const Parameters p("join", arguments, {"d", "attribute"});
  const AttributePath path(runtime, p[1]);
  std::vector<Value> items = to_vector(runtime, self);
  bool markup = p.has(0) && is_markup(p[0]);
  for (Value& item : items) {
    item = path.get(runtime, item);
    markup |= is_markup(item);
  }
  markup &= runtime.autoescape;
  const auto text = [&](const Value& value) {
    return markup && !is_markup(value) ? escape_html(to_text(runtime, value)) : to_text(runtime, value);
  };
  const std::string separator = p.has(0) ? text(p[0]) : "";
  Text out;
  for (size_t i = 0; i < items.size(); ++i) {
    if (i) out.add(separator);
    out.add(text(items[i]));
  }
  return runtime.string(out.take(), markup);
}

Value sum(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  const Parameters p("sum", arguments, {"attribute", "start"});
  const AttributePath path(runtime, p[0]);
  Value total = p.value_or(1, Value::integer(0));
  if (total.is_string()) invalid("sum: cannot add strings, use join");
  Value item;
  for (const Next next = iterate(runtime, self); next(item);) total = calculate(runtime, Operator::kAdd, total, path.get(runtime, item));
  return total;
}

Value batch(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  const Parameters p("batch", arguments, {"linecount", "fill_with"}, 1);
  const int64_t size = p.integer_or(0, 0);
  return runtime.generator([rt = &runtime, next = iterate(runtime, self), size, fill = p.is_set(1) ? p[1] : Value(), ahead = Value(),
                            started = false](Value& out) mutable {
    std::vector<Value> items;
    if (!std::exchange(started, true) && size == 0) {  // jinja2 begins with an empty batch then
      if (!next(ahead)) return false;
      out = rt->list({});
      return true;
    }
    if (!ahead.is_missing()) items.push_back(std::exchange(ahead, Value()));
    Value item;
    while (next(item)) {
      if (!items.empty() && int64_t(items.size()) == size) {
        ahead = std::move(item);
        break;
      }
      items.push_back(std::move(item));
    }
    if (items.empty()) return false;
    while (ahead.is_missing() && !fill.is_missing() && int64_t(items.size()) < size) {
      rt->step(8);
      items.push_back(fill);
    }
    out = rt->list(std::move(items));
    return true;
  });
}

Value slices(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  const Parameters p("slice", arguments, {"slices", "fill_with"}, 1);
  const int64_t count = p.integer_or(0, 0);
  if (count == 0) invalid("slice: the number of slices is zero");
  return runtime.generator([rt = &runtime, items = to_vector(runtime, self), count, fill = p.is_set(1) ? p[1] : Value(), at = int64_t{0},
                            start = size_t{0}](Value& out) mutable {
    if (at >= count) return false;
    rt->step();
    const int64_t size = int64_t(items.size()), extra = size % count;
    const size_t end = std::min(items.size(), start + size_t(size / count) + (at < extra));
    std::vector<Value> part(items.begin() + long(start), items.begin() + long(end));
    if (!fill.is_missing() && at >= extra) part.push_back(fill);
    start = end;
    ++at;
    out = rt->list(std::move(part));
    return true;
  });
}

Value items(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  expect_no_arguments("items", arguments);
  if (self.is_undefined()) return runtime.generator(nullptr);
  if (!self.is(Kind::kDict)) invalid("items: wanted a dict, found {}", type_name(self));
  return runtime.generator(iterate(runtime, Value(runtime.heap.make<DictViewObject>(0, self, DictViewObject::kItems))));
}

Value attr(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  const Parameters p("attr", arguments, {"name"}, 1);
  const std::string& name = p.string(0);
  if (auto value = python_attribute(runtime, self, name)) return *std::move(value);
  return runtime.undefined(fmt::format("'{} object' has no attribute '{}'", type_name(self), printable(name)));
}

Value default_value(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  const Parameters p("default", arguments, {"default_value", "boolean"});
  if (!self.is_undefined() && (!p.truth_or(1, false) || truth(self))) return self;
  return p.has(0) ? p[0] : runtime.string("");
}

Value random(Runtime&, const Value&, const CallArguments&) {
  invalid("the filter 'random' is not supported: its output would not be repeatable");
}

constexpr NativeEntry kFilters[] = {
    {"length", length},   {"count", length}, {"list", list},       {"first", first},           {"last", last},
    {"reverse", reverse}, {"join", join},    {"sum", sum},         {"batch", batch},           {"slice", slices},
    {"items", items},     {"attr", attr},    {"d", default_value}, {"default", default_value}, {"random", random},
};

}  // namespace

std::span<const NativeEntry> sequence_filters() { return kFilters; }

}  // namespace headrace::jinja
