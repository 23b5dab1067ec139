// A graph with all that is needed to run it again. In text: the graph's, with symbols and seed in comments.
#pragma once

#include "headrace/graph.h"

namespace headrace::fuzzing {

struct Case {
  Graph graph;
  SymbolValues symbols;
  uint64_t data_seed = 0;

  Case clone() const { return {graph.clone(), symbols, data_seed}; }
  std::string to_text() const;
  static Case parse(std::string_view text);  // throws Error(kInvalidArgument)
};

// The same for the same seed.
Case random_case(uint64_t seed);

}  // namespace headrace::fuzzing
