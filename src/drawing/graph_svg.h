// A program as a picture: ops from top to bottom in frames that are layers, layers that repeat drawn once, values as arrows with their
// types and bytes. Views cost nothing and are not drawn.
#pragma once

#include <string>

#include "headrace/graph.h"

namespace headrace {

// An SVG document. Equal graphs give equal text.
std::string graph_svg(const Graph& graph);

}  // namespace headrace
