#include "jinja/filters/filters.h"

namespace headrace::jinja {

NativeFunction find_filter(std::string_view name) {
  for (const auto filters : {text_filters(), layout_filters(), html_filters(), number_filters(), sequence_filters(), order_filters(),
                             select_filters(), json_filters()})
    for (const NativeEntry& entry : filters)
      if (entry.name == name) return entry.function;
  return nullptr;
}

}  // namespace headrace::jinja
