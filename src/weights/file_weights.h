// Weights in checkpoint files, read in place, under the names that the files give them.
#pragma once

#include "weights/gguf.h"
#include "weights/weight_source.h"

namespace headrace {

// What a Hugging Face folder holds: model.safetensors, or the shards that model.safetensors.index.json lists, or model-*-of-*.safetensors
// without an index. Nothing when it holds none of them. Throws Error(kNotFound) for a missing shard, Error(kInvalidArgument) when a tensor
// is in two shards or not in the shard that the index says, or when a shard's name points out of the folder.
std::shared_ptr<WeightSource> folder_weights(const std::string& folder);

std::shared_ptr<WeightSource> gguf_weights(std::shared_ptr<const GgufFile> file);

}  // namespace headrace
