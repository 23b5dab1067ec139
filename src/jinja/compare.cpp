// Equality, order, membership and hashes.
#include <cmath>
#include <functional>

#include "core/error.h"
#include "jinja/operators.h"
#include "jinja/text_form.h"

namespace headrace::jinja {
namespace {

[[noreturn]] void not_ordered(Comparison op, const Value& left, const Value& right) {
  invalid("'{}' not supported between instances of '{}' and '{}'", symbol(op), type_name(left), type_name(right));
}

// Exact where a double cannot hold the integer: -1, 0, 1, or 2 when either is not a number.
int order_of_numbers(const Value& left, const Value& right) {
  if (left.is_integral() && right.is_integral()) return left.as_int() < right.as_int() ? -1 : left.as_int() > right.as_int();
  const double a = left.number(), b = right.number();
  if (std::isnan(a) || std::isnan(b)) return 2;
  const long double x = left.is_integral() ? (long double)left.as_int() : a, y = right.is_integral() ? (long double)right.as_int() : b;
  return x < y ? -1 : x > y;
}

bool equal_sequences(Runtime& runtime, const std::vector<Value>& a, const std::vector<Value>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (!equal(runtime, a[i], b[i])) return false;
  return true;
}

bool equal_dicts(Runtime& runtime, const DictObject& a, const DictObject& b) {
  if (a.items().size() != b.items().size()) return false;
  for (const auto& [key, value] : a.items()) {
    const Value* other = b.find(runtime, key);
    if (!other || !equal(runtime, value, *other)) return false;
  }
  return true;
}

bool equal_ranges(const RangeObject& a, const RangeObject& b) {
  return a.length == b.length && (a.length == 0 || (a.start == b.start && (a.length == 1 || a.step == b.step)));
}

// Spread over all bits: a dict takes the low ones.
size_t spread(int64_t number) {
  const uint64_t h = uint64_t(number) * 0x9e3779b97f4a7c15u;
  return size_t(h ^ h >> 32);
}

bool ordered(Runtime& runtime, Comparison op, const Value& left, const Value& right) {
  const auto decide = [op](int order) {
    switch (op) {
      case Comparison::kLess: return order < 0;
      case Comparison::kLessEqual: return order <= 0;
      case Comparison::kGreater: return order > 0;
      default: return order >= 0;
    }
  };
  runtime.step();
  if (left.is_number() && right.is_number()) {
    const int order = order_of_numbers(left, right);
    return order != 2 && decide(order);
  }
  require_defined(left);
  require_defined(right);
  if (left.is_string()) runtime.step_through(left);
  if (left.is_string() && right.is_string()) return decide(text_of(left).compare(text_of(right)));  // UTF-8 keeps the order of code points
  if (!left.is_sequence() || left.kind() != right.kind()) not_ordered(op, left, right);
  const Runtime::Nested nested(runtime);
  const auto &a = items_of(left), &b = items_of(right);
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    if (!equal(runtime, a[i], b[i])) return ordered(runtime, op, a[i], b[i]);
  return decide(a.size() < b.size() ? -1 : a.size() > b.size());
}

}  // namespace

std::string_view symbol(Comparison op) {
  constexpr std::string_view kSymbols[] = {"==", "!=", "<", "<=", ">", ">=", "in", "not in"};
  return kSymbols[int(op)];
}

bool same(const Value& left, const Value& right) {
  if (left.kind() != right.kind()) return false;
  if (left.object() || right.object()) return left.object() == right.object();
  return left.as_int() == right.as_int();
}

bool equal(Runtime& runtime, const Value& left, const Value& right) {
  runtime.step();
  if (left.is_number() && right.is_number()) return order_of_numbers(left, right) == 0;
  if (left.kind() != right.kind()) return false;
  const Runtime::Nested nested(runtime);
  switch (left.kind()) {
    case Kind::kMissing:
    case Kind::kUndefined:
    case Kind::kNone: return true;
    case Kind::kString:
      if (text_of(left).size() != text_of(right).size()) return false;
      runtime.step_through(left);
      return text_of(left) == text_of(right);
    case Kind::kList:
    case Kind::kTuple: return left.object() == right.object() || equal_sequences(runtime, items_of(left), items_of(right));
    case Kind::kDict: return left.object() == right.object() || equal_dicts(runtime, left.as<DictObject>(), right.as<DictObject>());
    case Kind::kRange: return equal_ranges(left.as<RangeObject>(), right.as<RangeObject>());
    default: return left.object() == right.object();
  }
}

bool less(Runtime& runtime, const Value& left, const Value& right) { return ordered(runtime, Comparison::kLess, left, right); }

bool compare(Runtime& runtime, Comparison op, const Value& left, const Value& right) {
  switch (op) {
    case Comparison::kEqual: return equal(runtime, left, right);
    case Comparison::kNotEqual: return !equal(runtime, left, right);
    case Comparison::kIn: return contains(runtime, right, left);
    case Comparison::kNotIn: return !contains(runtime, right, left);
    default: return ordered(runtime, op, left, right);
  }
}

bool contains(Runtime& runtime, const Value& container, const Value& item) {
  if (container.is_string()) {
    if (!item.is_string()) invalid("'in <string>' requires string as left operand, not {}", type_name(item));
    runtime.step_search(text_of(container), text_of(item));
    return text_of(container).find(text_of(item)) != std::string::npos;
  }
  if (container.is(Kind::kDict)) return container.as<DictObject>().find(runtime, item) != nullptr;
  if (container.is(Kind::kDictView) && container.as<DictViewObject>().part == DictViewObject::kKeys)
    return container.as<DictViewObject>().dict.as<DictObject>().find(runtime, item) != nullptr;
  if (!is_iterable(container)) invalid("argument of type '{}' is not iterable", type_name(container));
  Value value;
  for (const Next next = iterate(runtime, container); next(value);)
    if (same(value, item) || equal(runtime, value, item)) return true;
  return false;
}

size_t hash(Runtime& runtime, const Value& value) {
  runtime.step();
  switch (value.kind()) {
    case Kind::kBool:
    case Kind::kInt: return spread(value.as_int());
    case Kind::kFloat: {
      const double d = value.as_float();
      if (d == std::floor(d) && std::fabs(d) < 9e18) return spread(int64_t(d));
      return std::hash<double>()(d);
    }
    case Kind::kString: runtime.step_through(value); return std::hash<std::string_view>()(text_of(value));
    case Kind::kTuple: {
      const Runtime::Nested nested(runtime);
      size_t h = 0x345678;
      for (const Value& item : items_of(value)) h = (h ^ hash(runtime, item)) * 1000003;
      return h;
    }
    case Kind::kList:
    case Kind::kDict:
    case Kind::kDictView: invalid("unhashable type: '{}'", type_name(value));
    case Kind::kRange: return spread(value.as<RangeObject>().length);
    case Kind::kUndefined:
    case Kind::kNone:
    case Kind::kMissing: return size_t(value.kind());
    default: return std::hash<const void*>()(value.object());
  }
}

}  // namespace headrace::jinja
