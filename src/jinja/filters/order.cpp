// Filters that compare items: sort, unique, groupby, min, max, dictsort.
#include <algorithm>

#include "core/error.h"
#include "jinja/arguments.h"
#include "jinja/filters/attribute_path.h"
#include "jinja/filters/filters.h"
#include "jinja/operators.h"
#include "jinja/text_form.h"

namespace headrace::jinja {
namespace {

struct Keyed {
  Value key, item;
};

// Stable, also in reverse, as Python's sorted.
void sort_by_key(Runtime& runtime, std::vector<Keyed>& items, bool reverse) {
  if (reverse) std::reverse(items.begin(), items.end());
  std::stable_sort(items.begin(), items.end(), [&](const Keyed& a, const Keyed& b) { return less(runtime, a.key, b.key); });
  if (reverse) std::reverse(items.begin(), items.end());
}

Value items_list(Runtime& runtime, std::vector<Keyed> keyed) {
  std::vector<Value> items;
  items.reserve(keyed.size());
  for (Keyed& k : keyed) items.push_back(std::move(k.item));
  return runtime.list(std::move(items));
}

Value cased(Runtime& runtime, const Value& value, bool case_sensitive) { return case_sensitive ? value : ignore_case(runtime, value); }

// Of "a,b": the value at a, then at b.
std::vector<AttributePath> paths_of(Runtime& runtime, const Value& attribute) {
  if (!attribute.is_string()) return {AttributePath(runtime, attribute)};
  std::vector<AttributePath> paths;
  const std::string& text = text_of(attribute);
  for (size_t start = 0, end; start <= text.size(); start = end + 1) {
    end = std::min(text.find(',', start), text.size());
    paths.emplace_back(runtime, runtime.string(text.substr(start, end - start)));
  }
  return paths;
}

Value sort(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  const Parameters p("sort", arguments, {"reverse", "case_sensitive", "attribute"});
  const std::vector<AttributePath> paths = paths_of(runtime, p[2]);
  std::vector<Keyed> items;
  for (Value& item : to_vector(runtime, self)) {
    std::vector<Value> key;
    for (const AttributePath& path : paths) key.push_back(cased(runtime, path.get(runtime, item), p.truth_or(1, false)));
    items.push_back({runtime.list(std::move(key)), std::move(item)});
  }
  sort_by_key(runtime, items, p.truth_or(0, false));
  return items_list(runtime, std::move(items));
}

Value dictsort(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  const Parameters p("dictsort", arguments, {"case_sensitive", "by", "reverse"});
  require_defined(self);
  if (!self.is(Kind::kDict)) invalid("dictsort: wanted a dict, found {}", type_name(self));
  const std::string by = p.has(1) ? p.string(1) : "key";
  if (by != "key" && by != "value") invalid("dictsort: 'by' is '{}', wanted 'key' or 'value'", printable(by));
  std::vector<Keyed> items;
  for (const auto& [key, value] : self.as<DictObject>().items())
    items.push_back({cased(runtime, by == "key" ? key : value, p.truth_or(0, false)), runtime.pair(key, value)});
  sort_by_key(runtime, items, p.truth_or(2, false));
  return items_list(runtime, std::move(items));
}

Value unique(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  const Parameters p("unique", arguments, {"case_sensitive", "attribute"});
  return runtime.generator([rt = &runtime, case_sensitive = p.truth_or(0, false), path = AttributePath(runtime, p[1]),
                            seen = runtime.heap.make<DictObject>(0), self, next = Next()](Value& out) mutable {
    if (!next) next = iterate(*rt, self);
    while (next(out)) {
      const Value key = cased(*rt, path.get(*rt, out), case_sensitive);
      if (seen->find(*rt, key)) continue;
      seen->set(*rt, key, Value::none());
      return true;
    }
    return false;
  });
}

template <bool IsMax>
Value extreme(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  const Parameters p(IsMax ? "max" : "min", arguments, {"case_sensitive", "attribute"});
  const AttributePath path(runtime, p[1]);
  Keyed best;
  Value item;
  for (const Next next = iterate(runtime, self); next(item);) {
    Value key = cased(runtime, path.get(runtime, item), p.truth_or(0, false));
    const bool is_better = best.key.is_missing() || (IsMax ? less(runtime, best.key, key) : less(runtime, key, best.key));
    if (is_better) best = {std::move(key), item};
  }
  return best.key.is_missing() ? runtime.undefined("No aggregated item, sequence was empty.") : best.item;
}

Value groupby(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  const Parameters p("groupby", arguments, {"attribute", "default", "case_sensitive"}, 1);
  const AttributePath path(runtime, p[0], p[1]);
  std::vector<Keyed> items;
  for (Value& item : to_vector(runtime, self))
    items.push_back({cased(runtime, path.get(runtime, item), p.truth_or(2, false)), std::move(item)});
  sort_by_key(runtime, items, false);
  std::vector<Value> groups;
  for (size_t i = 0; i < items.size();) {
    const Value key = items[i].key, grouper = path.get(runtime, items[i].item);
    std::vector<Value> members;
    for (; i < items.size() && equal(runtime, items[i].key, key); ++i) members.push_back(items[i].item);
    if (members.empty()) members.push_back(items[i++].item);  // a key that differs from itself: NaN
    std::vector<Value> group{grouper, runtime.list(std::move(members))};
    groups.push_back(Value(runtime.heap.make<TupleObject>(2 * sizeof(Value), std::move(group), true)));
  }
  return runtime.list(std::move(groups));
}

constexpr NativeEntry kFilters[] = {
    {"sort", sort}, {"dictsort", dictsort}, {"unique", unique}, {"min", extreme<false>}, {"max", extreme<true>}, {"groupby", groupby},
};

}  // namespace

std::span<const NativeEntry> order_filters() { return kFilters; }

}  // namespace headrace::jinja
