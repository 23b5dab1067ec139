#pragma once

#include <string>

#include "headrace/graph.h"

namespace headrace {

// Graph::to_text() with layers that repeat told once; a comment stands for the others. It no longer parses: values are missing.
std::string folded_text(const Graph& graph);

}  // namespace headrace
