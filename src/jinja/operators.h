// Python's operators on values: arithmetic, comparison, membership, truth, iteration, subscription.
// Every function throws Error(kInvalidArgument) where Python raises.
#pragma once

#include "jinja/runtime.h"

namespace headrace::jinja {

enum class Operator : uint8_t { kAdd, kSubtract, kMultiply, kDivide, kFloorDivide, kModulo, kPower };
enum class Comparison : uint8_t { kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual, kIn, kNotIn };

std::string_view symbol(Operator op);
std::string_view symbol(Comparison op);

Value calculate(Runtime& runtime, Operator op, const Value& left, const Value& right);
Value negate(Runtime& runtime, const Value& value);
Value plus(Runtime& runtime, const Value& value);
Value absolute(Runtime& runtime, const Value& value);

bool equal(Runtime& runtime, const Value& left, const Value& right);
bool less(Runtime& runtime, const Value& left, const Value& right);
bool compare(Runtime& runtime, Comparison op, const Value& left, const Value& right);
bool contains(Runtime& runtime, const Value& container, const Value& item);
bool same(const Value& left, const Value& right);  // `is`
size_t hash(Runtime& runtime, const Value& value);

bool truth(const Value& value);
// Throws for a value without a length.
int64_t length_of(const Value& value);
bool has_length(const Value& value);
bool is_iterable(const Value& value);
Next iterate(Runtime& runtime, const Value& value);
std::vector<Value> to_vector(Runtime& runtime, const Value& value);
Next iterate_backwards(Runtime& runtime, const Value& value);

// object[start:stop:step]; parts that are not given are kMissing.
Value slice(Runtime& runtime, const Value& object, const Value& start, const Value& stop, const Value& step);

[[noreturn]] void fail_undefined(const Value& undefined);
// Throws if the value is undefined.
void require_defined(const Value& value);
// 64 bits that an argument must be.
int64_t to_index(const Value& value, std::string_view what);

}  // namespace headrace::jinja
