// Filters on numbers, and to numbers.
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "core/error.h"
#include "jinja/arguments.h"
#include "jinja/filters/filters.h"
#include "jinja/number_text.h"
#include "jinja/operators.h"
#include "jinja/text_form.h"

namespace headrace::jinja {
namespace {

Value abs(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  expect_no_arguments("abs", arguments);
  return absolute(runtime, self);
}

std::optional<double> as_float(const Value& value) {
  if (value.is_number()) return value.number();
  if (value.is_string()) return parse_float(text_of(value));
  require_defined(value);
  return std::nullopt;
}

// int() of a float; nothing for NaN.
std::optional<Value> truncated(double d) {
  if (std::isnan(d)) return std::nullopt;
  if (std::fabs(d) >= 9.2e18) invalid("int: {} does not fit 64 bits", repr(d));
  return Value::integer(int64_t(d));
}

Value to_int(Runtime&, const Value& self, const CallArguments& arguments) {
  const Parameters p("int", arguments, {"default", "base"});
  if (self.is_integral()) return Value::integer(self.as_int());
  if (self.is_string())
    if (const auto value = parse_integer(text_of(self), p.integer_or(1, 10))) return Value::integer(*value);
  const auto number = as_float(self);
  const auto value = number ? truncated(*number) : std::nullopt;
  return value ? *value : p.value_or(0, Value::integer(0));
}

Value to_float(Runtime&, const Value& self, const CallArguments& arguments) {
  const Parameters p("float", arguments, {"default"});
  const auto value = as_float(self);
  return value ? Value::real(*value) : p.value_or(0, Value::real(0));
}

double round_half_even(double number, int64_t precision) {
  if (!std::isfinite(number) || precision > 330) return number;
  if (precision < -330) return std::copysign(0.0, number);
  if (precision >= 0) {  // printf rounds the exact binary value correctly
    char buffer[700];
    std::snprintf(buffer, sizeof buffer, "%.*f", int(precision), number);
    return std::strtod(buffer, nullptr);
  }
  const double scale = std::pow(10.0, double(-precision));
  return std::nearbyint(number / scale) * scale;
}

Value round_integer(int64_t number, int64_t precision) {
  if (precision >= 0) return Value::integer(number);
  if (precision < -18) return Value::integer(0);
  int64_t scale = 1;
  for (int64_t i = 0; i < -precision; ++i) scale *= 10;
  const int64_t rest = ((number % scale) + scale) % scale;
  __int128 rounded = __int128{number} - rest;
  const bool is_up = rest * 2 > scale || (rest * 2 == scale && (rounded / scale) % 2 != 0);
  if (is_up) rounded += scale;
  if (rounded > INT64_MAX || rounded < INT64_MIN) invalid("round: the result does not fit 64 bits");
  return Value::integer(int64_t(rounded));
}

Value round(Runtime&, const Value& self, const CallArguments& arguments) {
  const Parameters p("round", arguments, {"precision", "method"});
  const int64_t precision = p.integer_or(0, 0);
  const std::string method = p.has(1) ? p.string(1) : "common";
  if (method != "common" && method != "ceil" && method != "floor")
    invalid("round: the method is '{}', wanted common, ceil or floor", printable(method));
  require_defined(self);
  if (!self.is_number()) invalid("round: wanted a number, found {}", type_name(self));
  if (method == "common") {
    return self.is_integral() ? round_integer(self.as_int(), precision) : Value::real(round_half_even(self.as_float(), precision));
  }
  if (precision < -300 || precision > 300) invalid("round: the precision {} is out of range", precision);
  const double scale = std::pow(10.0, double(precision)), scaled = self.number() * scale;
  if (!std::isfinite(scaled)) invalid("round: cannot convert {} to an integer", repr(scaled));
  return Value::real((method == "ceil" ? std::ceil(scaled) : std::floor(scaled)) / scale);
}

Value filesizeformat(Runtime& runtime, const Value& self, const CallArguments& arguments) {
  const Parameters p("filesizeformat", arguments, {"binary"});
  const auto bytes = as_float(self);
  if (!bytes) invalid("filesizeformat: wanted a number, found {}", type_name(self));
  const bool binary = p.truth_or(0, false);
  const double base = binary ? 1024 : 1000;
  if (*bytes == 1) return runtime.string("1 Byte");
  if (*bytes < base) return runtime.string(fmt::format("{:.0f} Bytes", std::trunc(*bytes) + 0.0));
  double unit = base;
  char prefix = 'Y';
  for (const char candidate : std::string_view("KMGTPEZY")) {
    unit *= base;
    prefix = candidate;
    if (*bytes < unit) break;
  }
  return runtime.string(fmt::format("{:.1f} {}{}", base * *bytes / unit, prefix == 'K' && !binary ? 'k' : prefix, binary ? "iB" : "B"));
}

constexpr NativeEntry kFilters[] = {
    {"abs", abs}, {"int", to_int}, {"float", to_float}, {"round", round}, {"filesizeformat", filesizeformat},
};

}  // namespace

std::span<const NativeEntry> number_filters() { return kFilters; }

}  // namespace headrace::jinja
