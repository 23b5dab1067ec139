#pragma once

#include "device/device.h"
#include "headrace/graph.h"

namespace headrace {

// What a step reads and writes: weights as its kernel holds them, operands, results; of a table only the rows that are looked up, of
// a state what the kernel says it touches.
int64_t step_bytes(const Node& node, const Launch& launch);

}  // namespace headrace
