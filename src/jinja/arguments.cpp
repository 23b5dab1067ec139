#include "jinja/arguments.h"

#include <algorithm>

#include "core/error.h"
#include "jinja/operators.h"
#include "jinja/text_form.h"

namespace headrace::jinja {

Parameters::Parameters(std::string_view function, const CallArguments& arguments, std::initializer_list<std::string_view> names,
                       size_t required)
    : function_(function) {
  if (arguments.positional.size() > names.size())
    invalid("{}() takes at most {} arguments, {} were given", function, names.size(), arguments.positional.size());
  std::copy(arguments.positional.begin(), arguments.positional.end(), values_.begin());
  for (const auto& [name, value] : arguments.named) {
    const auto place = std::find(names.begin(), names.end(), name);
    if (place == names.end()) invalid("{}() got an unexpected keyword argument '{}'", function, printable(name));
    Value& slot = values_[size_t(place - names.begin())];
    if (!slot.is_missing()) invalid("{}() got multiple values for argument '{}'", function, name);
    slot = value;
  }
  for (size_t i = 0; i < required; ++i)
    if (!has(i)) invalid("{}() misses its argument '{}'", function, names.begin()[i]);
}

int64_t Parameters::integer_or(size_t i, int64_t fallback) const { return has(i) ? to_index(values_[i], function_) : fallback; }

bool Parameters::truth_or(size_t i, bool fallback) const { return has(i) ? truth(values_[i]) : fallback; }

const std::string& Parameters::string(size_t i) const {
  require_defined(values_[i]);
  if (!values_[i].is_string()) invalid("{}(): argument {} must be str, not {}", function_, i + 1, type_name(values_[i]));
  return text_of(values_[i]);
}

void expect_no_arguments(std::string_view function, const CallArguments& arguments) {
  if (!arguments.positional.empty() || !arguments.named.empty()) invalid("{}() takes no arguments", function);
}

}  // namespace headrace::jinja
