// Where in the model a node stands, read from the paths of the weights that it uses: fusion keeps those, whatever becomes of names.
#pragma once

#include <string>
#include <unordered_map>

#include "headrace/graph.h"

namespace headrace {

struct NodePlace {
  std::string path;   // "model.layers.3.self_attn.o_proj", or "model.layers.3.self_attn.paged_attention"; no two nodes have the same
  std::string layer;  // its beginning, up to the first number: "model.layers.3"; empty outside of layers
  std::string local;  // the rest of it: "self_attn.o_proj"; outside of layers all
};

// A node with weights stands where these do, several where their paths part. Another stands in the module of the node before it, unless
// it follows from inputs and nodes outside of modules alone. Nodes known at load have no place.
std::unordered_map<const Node*, NodePlace> node_places(const Graph& graph);

}  // namespace headrace
