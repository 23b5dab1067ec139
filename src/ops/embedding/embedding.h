// Rows of a table, looked up by id and widened. The table may be of any element type; its rows are read where they are stored.
// Ids are validated where they enter the program (a prompt's tokens): here one out of range takes the nearest row that exists.
#pragma once

#include "ops/kernel.h"

namespace headrace {

struct Embedding {
  DType dtype = DType::kF32;  // of the result: a float type
  void fields(auto&& f) { f("dtype", dtype); }
};

// embedding(ids (...) i32 or i64, table (rows, hidden)) -> (..., hidden) of `dtype`.
void register_embedding(OpRegistry& ops);
void register_embedding_cpu(KernelRegistry& kernels);

}  // namespace headrace
