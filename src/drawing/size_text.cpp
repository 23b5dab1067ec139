#include "drawing/size_text.h"

#include <fmt/format.h>

#include <vector>

namespace headrace {

std::string bytes_text(double bytes) {
  const char* units[] = {"B", "kB", "MB", "GB", "TB"};
  size_t unit = 0;
  while (bytes >= 999.5 && unit + 1 < std::size(units)) bytes /= 1000, ++unit;
  return unit == 0 || bytes >= 99.95 ? fmt::format("{:.0f} {}", bytes, units[unit]) : fmt::format("{:.1f} {}", bytes, units[unit]);
}

std::string bytes_text(const TensorType& type) {
  const Dim numel = type.shape.numel();
  std::vector<std::string> symbols;
  numel.collect_symbols(symbols);
  SymbolValues ones;
  Dim product = 1;
  std::string text;
  for (const std::string& s : symbols) {
    ones[s] = 1;
    product = product * Dim::symbol(s);
    text += " \u00d7 " + s;
  }
  const int64_t factor = numel.is_constant() ? numel.value() : numel.evaluate(ones);
  if (factor <= 0 || numel != product * Dim(factor)) return "";
  const double block = double(info(type.dtype).block_bytes) / info(type.dtype).block_elements;
  return bytes_text(double(factor) * block) + text;
}

}  // namespace headrace
