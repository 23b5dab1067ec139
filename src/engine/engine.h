// The engine: what building makes and running takes. In memory it is this struct; on disk it is one safetensors file
// (engine_file.h). It never runs anything.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "core/json.h"
#include "headrace/graph.h"
#include "weights/text_files.h"
#include "weights/weight_source.h"

namespace headrace {

struct Engine {
  std::string origin;  // for people: the path it was built from or read from
  Graph program;       // after all passes
  // Of the model: kind ("decoder", "encoder"), vocab_size, max_positions.
  std::string kind;
  int64_t vocab_size = 0, max_positions = 0;
  Json config, generation, pooling;  // as in weights/checkpoint.h
  TextFiles text;
  std::shared_ptr<const WeightSource> weights;  // null in a stripped engine
  bool exact = false;                           // built with --dtype fp32
};

}  // namespace headrace
