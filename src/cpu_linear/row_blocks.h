// GGUF blocks taken apart, 32 elements of a row at a time, for packing.
#pragma once

#include "cpu_linear/panel.h"
#include "headrace/types.h"

namespace headrace {

// 32 consecutive elements: unsigned integers and what they stand for (see PanelFormat), groups of 16 or one of 32.
struct RowBlock {
  alignas(16) uint8_t q[32];
  uint16_t scale[2];    // half
  uint16_t minimum[2];  // half
};

// The panel kind that holds a block type. Throws Error(kUnsupported) for other types.
PanelKind integer_panel_kind(DType dtype);

// Elements [32 * block, 32 * block + 32) of a row of a block type.
using RowBlockReader = void (*)(const uint8_t* row, int64_t block, RowBlock& out);
RowBlockReader row_block_reader(DType dtype);

}  // namespace headrace
