#include "random_graphs/case.h"

#include <charconv>

#include "core/error.h"
#include "headrace/functional.h"
#include "random_graphs/maker.h"
#include "random_graphs/op_table.h"

namespace headrace::fuzzing {
namespace {

constexpr std::string_view kData = "# data ", kSymbol = "# symbol ";

// Calls body(rest of the line) for each line that begins with `start`.
template <typename Body>
void for_lines(std::string_view text, std::string_view start, const Body& body) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.substr(0, start.size()) == start) body(line.substr(start.size()));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
}

template <typename T>
T number(std::string_view text) {
  T value{};
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc()) invalid("'{}' is no number", text);
  return value;
}

}  // namespace

std::string Case::to_text() const {
  std::string text = fmt::format("{}{}\n", kData, data_seed);
  for (const auto& [name, value] : symbols) text += fmt::format("{}{} {}\n", kSymbol, name, value);
  return text + graph.to_text();
}

Case Case::parse(std::string_view text) {
  Case parsed{Graph::parse(text, builtin_ops()), {}, 0};
  for_lines(text, kData, [&](std::string_view rest) { parsed.data_seed = number<uint64_t>(rest); });
  for_lines(text, kSymbol, [&](std::string_view rest) {
    const size_t space = std::min(rest.find(' '), rest.size() - 1);
    parsed.symbols[std::string(rest.substr(0, space))] = number<int64_t>(rest.substr(space + 1));
  });
  return parsed;
}

Case random_case(uint64_t seed) {
  Maker maker(seed);
  Random& random = maker.random;
  const int64_t steps = random.chance(0.03) ? random.between(30, 60) : random.chance(0.3) ? random.between(6, 20) : random.between(1, 6);
  const double with_recipes = random.pick({0.0, 0.2, 0.5});
  for (int64_t i = 0; i < steps; ++i)
    maker.grow([&] {
      if (random.chance(with_recipes)) return random.pick(recipes()).add(maker);
      const OpLine& line = random.pick(op_table());
      line.add(maker, line.op);
    });
  maker.mark_outputs();
  return {std::move(maker.graph), std::move(maker.symbols), maker.data_seed};
}

}  // namespace headrace::fuzzing
