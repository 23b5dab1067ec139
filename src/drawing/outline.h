// A program as a person would list it: what stands before and between layers, and layers, of which equal ones in a row are told once.
#pragma once

#include <string>
#include <vector>

#include "drawing/places.h"

namespace headrace {

// Nodes of one layer, or nodes in a row that belong to none.
struct Block {
  std::string layer;               // "model.layers.3", or empty
  std::vector<const Node*> nodes;  // in the program's order
};

// Blocks [first + i * period, first + (i + 1) * period) are equal for i < count.
struct Repetition {
  size_t first = 0, period = 1, count = 1;
};

struct Outline {
  std::unordered_map<const Node*, NodePlace> places;
  std::vector<Block> blocks;            // every node that is not known at load, once
  std::vector<Repetition> repetitions;  // all blocks, in order
};

// Nodes that follow from inputs alone (a table of rope) come first, as a block of their own.
Outline outline_of(const Graph& graph);

// A list cut into stretches that repeat, from the left, each as long as can be.
std::vector<Repetition> find_repetitions(const std::vector<std::string>& items);

}  // namespace headrace
