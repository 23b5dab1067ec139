#include "jinja/tests.h"

#include <algorithm>

#include "core/error.h"
#include "jinja/arguments.h"
#include "jinja/filters/filters.h"
#include "jinja/operators.h"
#include "jinja/text_form.h"
#include "jinja/unicode.h"

namespace headrace::jinja {
namespace {

// A test of the value alone.
template <bool (*Holds)(const Value&)>
Value plain(Runtime&, const Value& self, const CallArguments& arguments) {
  expect_no_arguments("test", arguments);
  return Value::boolean(Holds(self));
}

bool is_defined(const Value& v) { return !v.is_undefined(); }
bool is_undefined(const Value& v) { return v.is_undefined(); }
bool is_none(const Value& v) { return v.is_none(); }
bool is_boolean(const Value& v) { return v.is(Kind::kBool); }
bool is_true(const Value& v) { return v.is(Kind::kBool) && v.as_bool(); }
bool is_false(const Value& v) { return v.is(Kind::kBool) && !v.as_bool(); }
bool is_integer(const Value& v) { return v.is(Kind::kInt); }
bool is_float(const Value& v) { return v.is(Kind::kFloat); }
bool is_number(const Value& v) { return v.is_number(); }
bool is_a_string(const Value& v) { return v.is_string(); }
bool is_mapping(const Value& v) { return v.is(Kind::kDict); }
bool is_callable(const Value& v) { return v.is(Kind::kFunction) || v.is(Kind::kLoop) || v.is_undefined(); }
bool is_escaped(const Value& v) { return is_markup(v); }
bool is_sequence(const Value& v) {  // has a length and items
  return v.is_undefined() || v.is_string() || v.is_sequence() || v.is(Kind::kDict) || v.is(Kind::kRange);
}
bool can_iterate(const Value& v) { return is_iterable(v); }

template <Comparison Op>
Value comparison(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  const Parameters p(symbol(Op), arguments, {"other"}, 1);
  return Value::boolean(compare(runtime, Op, self, p[0]));
}

Value same_as(Runtime&, const Value& self, const CallArguments& arguments) {
  const Parameters p("sameas", arguments, {"other"}, 1);
  return Value::boolean(same(self, p[0]));
}

Value divisible_by(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  const Parameters p("divisibleby", arguments, {"num"}, 1);
  return Value::boolean(equal(runtime, calculate(runtime, Operator::kModulo, self, p[0]), Value::integer(0)));
}

template <int Rest>
Value parity(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  expect_no_arguments(Rest ? "odd" : "even", arguments);
  return Value::boolean(equal(runtime, calculate(runtime, Operator::kModulo, self, Value::integer(2)), Value::integer(Rest)));
}

// Has cased characters, all of the wanted case.
template <bool (*IsWanted)(uint32_t), bool (*IsOther)(uint32_t)>
Value all_cased(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  expect_no_arguments("test", arguments);
  bool any = false;
  for (const uint32_t c : decode(to_text(runtime, self))) {
    if (IsOther(c) || is_title(c)) return Value::boolean(false);
    any |= IsWanted(c);
  }
  return Value::boolean(any);
}

Value is_filter(Runtime&, const Value& self, const CallArguments& arguments) {
  expect_no_arguments("filter", arguments);
  return Value::boolean(self.is_string() && find_filter(text_of(self)));
}

Value is_test(Runtime&, const Value& self, const CallArguments& arguments) {
  expect_no_arguments("test", arguments);
  return Value::boolean(self.is_string() && find_test(text_of(self)));
}

constexpr NativeEntry kTests[] = {
    {"defined", plain<is_defined>},
    {"undefined", plain<is_undefined>},
    {"none", plain<is_none>},
    {"boolean", plain<is_boolean>},
    {"true", plain<is_true>},
    {"false", plain<is_false>},
    {"integer", plain<is_integer>},
    {"float", plain<is_float>},
    {"number", plain<is_number>},
    {"string", plain<is_a_string>},
    {"mapping", plain<is_mapping>},
    {"callable", plain<is_callable>},
    {"escaped", plain<is_escaped>},
    {"sequence", plain<is_sequence>},
    {"iterable", plain<can_iterate>},
    {"odd", parity<1>},
    {"even", parity<0>},
    {"divisibleby", divisible_by},
    {"sameas", same_as},
    {"lower", all_cased<is_lower, is_upper>},
    {"upper", all_cased<is_upper, is_lower>},
    {"filter", is_filter},
    {"test", is_test},
    {"in", comparison<Comparison::kIn>},
    {"==", comparison<Comparison::kEqual>},
    {"eq", comparison<Comparison::kEqual>},
    {"equalto", comparison<Comparison::kEqual>},
    {"!=", comparison<Comparison::kNotEqual>},
    {"ne", comparison<Comparison::kNotEqual>},
    {">", comparison<Comparison::kGreater>},
    {"gt", comparison<Comparison::kGreater>},
    {"greaterthan", comparison<Comparison::kGreater>},
    {">=", comparison<Comparison::kGreaterEqual>},
    {"ge", comparison<Comparison::kGreaterEqual>},
    {"<", comparison<Comparison::kLess>},
    {"lt", comparison<Comparison::kLess>},
    {"lessthan", comparison<Comparison::kLess>},
    {"<=", comparison<Comparison::kLessEqual>},
    {"le", comparison<Comparison::kLessEqual>},
};

}  // namespace

NativeFunction find_test(std::string_view name) {
  const auto at = std::find_if(std::begin(kTests), std::end(kTests), [&](const NativeEntry& e) { return e.name == name; });
  return at == std::end(kTests) ? nullptr : at->function;
}

}  // namespace headrace::jinja
