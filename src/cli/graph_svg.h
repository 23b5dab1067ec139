// A program as a picture: nodes from top to bottom, results as arrows with their types; what repeats (a layer) is drawn once, in a frame.
#pragma once

#include <string>

#include "headrace/graph.h"

namespace headrace::cli {

std::string graph_svg(const Graph& graph);

// The run of equal pieces that covers most of a list: pieces [begin + i * period, begin + (i + 1) * period) are equal for i < count.
struct Repetition {
  int begin = 0, period = 0, count = 1;  // count 1: nothing repeats
};
Repetition find_repetition(const std::vector<std::string>& items);

}  // namespace headrace::cli
