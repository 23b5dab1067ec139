// What a program that comes from a file must be, so that nothing which it does with memory needs to be looked at later.
#pragma once

#include <string>

#include "headrace/graph.h"

namespace headrace {

// Throws Error(kInvalidArgument):
//   states must be caches: floats (num_blocks, 2, kv_heads, block_tokens, head_dim), of which the runtime makes memory;
//   attention goes where its offsets, lengths and tables say without looking, so they must be the program's inputs of these names, which
//   the runtime fills, and its queries must be as many as the program's tokens.
void check_program(const Graph& program, const std::string& where);

}  // namespace headrace
