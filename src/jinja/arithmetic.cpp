// Python's arithmetic. Floats follow CPython: floor division and modulo take the divisor's sign.
#include <cmath>

#include "core/error.h"
#include "jinja/operators.h"
#include "jinja/percent_format.h"
#include "jinja/text_form.h"

namespace headrace::jinja {
namespace {

[[noreturn]] void overflow(Operator op) { invalid("integer overflow in '{}': integers have 64 bits here", symbol(op)); }

Value floor_divide(int64_t a, int64_t b) {
  if (b == 0) invalid("integer division or modulo by zero");
  if (b == -1) {
    int64_t negated;
    if (__builtin_sub_overflow(int64_t{0}, a, &negated)) overflow(Operator::kFloorDivide);
    return Value::integer(negated);
  }
  const int64_t quotient = a / b;
  return Value::integer(a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient);
}

Value modulo(int64_t a, int64_t b) {
  if (b == 0) invalid("integer modulo by zero");
  if (b == -1) return Value::integer(0);
  const int64_t rest = a % b;
  return Value::integer(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
}

double float_modulo(double a, double b) {
  if (b == 0) invalid("float modulo by zero");
  double rest = std::fmod(a, b);
  if (rest == 0) return std::copysign(0.0, b);
  if ((rest < 0) != (b < 0)) rest += b;
  return rest;
}

double float_floor_divide(double a, double b) {
  if (b == 0) invalid("float floor division by zero");
  double rest = std::fmod(a, b);
  double quotient = (a - rest) / b;
  if (rest != 0 && (rest < 0) != (b < 0)) quotient -= 1;
  if (quotient == 0) return std::copysign(0.0, a / b);
  double floored = std::floor(quotient);
  if (quotient - floored > 0.5) floored += 1;
  return floored;
}

double float_power(double a, double b) {
  if (a == 0 && b < 0) invalid("0.0 cannot be raised to a negative power");
  if (a < 0 && std::isfinite(a) && std::isfinite(b) && b != std::floor(b)) invalid("complex numbers are not supported");
  const double result = std::pow(a, b);
  if (std::isinf(result) && std::isfinite(a) && std::isfinite(b)) invalid("float power: result too large");
  return result;
}

Value integer_power(int64_t base, int64_t exponent) {
  if (exponent < 0) return Value::real(float_power(double(base), double(exponent)));
  int64_t result = 1;
  while (exponent > 0) {
    if ((exponent & 1) && __builtin_mul_overflow(result, base, &result)) overflow(Operator::kPower);
    exponent >>= 1;
    if (exponent > 0 && __builtin_mul_overflow(base, base, &base)) overflow(Operator::kPower);
  }
  return Value::integer(result);
}

Value integers(Operator op, int64_t a, int64_t b) {
  int64_t result = 0;
  bool overflowed = false;
  switch (op) {
    case Operator::kAdd: overflowed = __builtin_add_overflow(a, b, &result); break;
    case Operator::kSubtract: overflowed = __builtin_sub_overflow(a, b, &result); break;
    case Operator::kMultiply: overflowed = __builtin_mul_overflow(a, b, &result); break;
    case Operator::kDivide:
      if (b == 0) invalid("division by zero");
      return Value::real(double(a) / double(b));
    case Operator::kFloorDivide: return floor_divide(a, b);
    case Operator::kModulo: return modulo(a, b);
    case Operator::kPower: return integer_power(a, b);
  }
  if (overflowed) overflow(op);
  return Value::integer(result);
}

double floats(Operator op, double a, double b) {
  switch (op) {
    case Operator::kAdd: return a + b;
    case Operator::kSubtract: return a - b;
    case Operator::kMultiply: return a * b;
    case Operator::kDivide:
      if (b == 0) invalid("float division by zero");
      return a / b;
    case Operator::kFloorDivide: return float_floor_divide(a, b);
    case Operator::kModulo: return float_modulo(a, b);
    case Operator::kPower: return float_power(a, b);
  }
  return 0;
}

Value concatenate_strings(Runtime& runtime, const Value& left, const Value& right) {
  const bool markup = is_markup(left) || is_markup(right);
  Text out;
  for (const Value* part : {&left, &right}) out.add(markup && !is_markup(*part) ? escape_html(text_of(*part)) : text_of(*part));
  return runtime.string(out.take(), markup);
}

Value concatenate_sequences(Runtime& runtime, const Value& left, const Value& right) {
  const auto &a = items_of(left), &b = items_of(right);
  runtime.step(a.size() + b.size());
  std::vector<Value> items;
  items.reserve(a.size() + b.size());
  items.insert(items.end(), a.begin(), a.end());
  items.insert(items.end(), b.begin(), b.end());
  return left.is(Kind::kList) ? runtime.list(std::move(items)) : runtime.tuple(std::move(items));
}

Value repeat(Runtime& runtime, const Value& value, int64_t count) {
  const size_t times = count < 0 ? 0 : size_t(count);
  if (value.is_string()) return runtime.string(Text().repeat(times, text_of(value)).take(), is_markup(value));
  const auto& items = items_of(value);
  if (!items.empty() && times > kMaxMemoryBytes / sizeof(Value) / items.size())
    invalid("a list would use more than {} MiB", kMaxMemoryBytes >> 20);
  runtime.step(times * items.size());
  std::vector<Value> out;
  out.reserve(times * items.size());
  for (size_t i = 0; i < times && !items.empty(); ++i) out.insert(out.end(), items.begin(), items.end());
  return value.is(Kind::kList) ? runtime.list(std::move(out)) : runtime.tuple(std::move(out));
}

}  // namespace

std::string_view symbol(Operator op) {
  constexpr std::string_view kSymbols[] = {"+", "-", "*", "/", "//", "%", "**"};
  return kSymbols[int(op)];
}

Value calculate(Runtime& runtime, Operator op, const Value& left, const Value& right) {
  if (left.is_integral() && right.is_integral()) return integers(op, left.as_int(), right.as_int());
  if (left.is_number() && right.is_number()) return Value::real(floats(op, left.number(), right.number()));
  require_defined(left);
  if (op == Operator::kModulo && left.is_string()) return runtime.string(percent_format(runtime, left, right), is_markup(left));
  require_defined(right);
  if (op == Operator::kAdd) {
    if (left.is_string() && right.is_string()) return concatenate_strings(runtime, left, right);
    if (left.is_sequence() && left.kind() == right.kind()) return concatenate_sequences(runtime, left, right);
  }
  if (op == Operator::kMultiply) {
    if ((left.is_string() || left.is_sequence()) && right.is_integral()) return repeat(runtime, left, right.as_int());
    if (left.is_integral() && (right.is_string() || right.is_sequence())) return repeat(runtime, right, left.as_int());
  }
  if (op == Operator::kAdd && (left.is_string() || left.is_sequence()))
    invalid("can only concatenate {} (not \"{}\") to {}", type_name(left), type_name(right), type_name(left));
  invalid("unsupported operand type(s) for {}: '{}' and '{}'", symbol(op), type_name(left), type_name(right));
}

Value negate(Runtime&, const Value& value) {
  if (value.is(Kind::kFloat)) return Value::real(-value.as_float());
  require_defined(value);
  if (!value.is_integral()) invalid("bad operand type for unary -: '{}'", type_name(value));
  return integers(Operator::kSubtract, 0, value.as_int());
}

Value plus(Runtime&, const Value& value) {
  if (value.is(Kind::kFloat)) return value;
  require_defined(value);
  if (!value.is_integral()) invalid("bad operand type for unary +: '{}'", type_name(value));
  return Value::integer(value.as_int());
}

Value absolute(Runtime& runtime, const Value& value) {
  if (value.is(Kind::kFloat)) return Value::real(std::fabs(value.as_float()));
  require_defined(value);
  if (!value.is_integral()) invalid("bad operand type for abs(): '{}'", type_name(value));
  return value.as_int() < 0 ? negate(runtime, value) : Value::integer(value.as_int());
}

}  // namespace headrace::jinja
