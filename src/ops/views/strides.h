// Which rearrangements of a tensor need no copy.
#pragma once

#include "headrace/types.h"

namespace headrace {

// The strides that show elements of `sizes` and `strides`, in their order, as a tensor of `wanted` sizes; nothing when only a
// copy can. Both have equally many elements. An axis of `wanted` may join axes that lie contiguously within each other, and
// several may share one.
std::optional<Sizes> view_strides(const Sizes& sizes, const Sizes& strides, const Sizes& wanted);

// The part of `t` that begins at element `offset` (of memory, a multiple of the block of a block type).
Tensor view_at(const Tensor& t, int64_t offset, const Sizes& sizes, const Sizes& strides);

}  // namespace headrace
