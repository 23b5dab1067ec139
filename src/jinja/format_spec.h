// Python's format specifications: [[fill]align][sign][#][0][width][,][.precision][type].
#pragma once

#include "jinja/runtime.h"

namespace headrace::jinja {

struct FormatSpec {
  std::string fill = " ";
  char align = '\0';  // < > ^ =, or none
  char sign = '-';    // - + or a space
  bool is_alternate = false;
  int64_t width = 0;
  char grouping = '\0';    // , or _
  int64_t precision = -1;  // -1: not given
  char type = '\0';

  // Throws Error.
  static FormatSpec parse(std::string_view text);
};

// Not of an empty specification: that is str().
std::string format_value(const Value& value, const FormatSpec& spec);
// Text in a field of spec.width characters; without an alignment, `fallback` is it.
std::string align_text(std::string_view text, const FormatSpec& spec, char fallback);
// Digits of a number without its sign; `type` is one of e E f F g G, or \0 for repr.
std::string float_digits(double magnitude, const FormatSpec& spec);
std::string integer_digits(uint64_t magnitude, char type, bool is_alternate);

}  // namespace headrace::jinja
