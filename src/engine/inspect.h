// What an engine's KV cache will be made of.
#pragma once

#include "headrace/engine.h"

namespace headrace {

// Names of the plugins whose ops a program has, sorted.
std::vector<std::string> plugins_of(const Graph& program);

// The cache has the 16-bit type that the weights have, fp16 for block types; unless they are fp32 or exactness is asked for: then it is
// as exact as the rest.
DType kv_cache_dtype(const Engine& engine);

// Bytes of cache that one token of a sequence takes, over all layers. Throws Error(kInvalidArgument) for states that are no cache.
int64_t kv_bytes_per_token(const Engine& engine);

}  // namespace headrace
