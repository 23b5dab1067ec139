// A step's chunks as the plain data that a model reads.
#pragma once

#include "runtime/scheduler.h"

namespace headrace::runtime {

// Sequences in the order of chunks; each one's logit rows are its positions [first_row, end).
Batch make_batch(std::span<const Chunk> chunks);

}  // namespace headrace::runtime
