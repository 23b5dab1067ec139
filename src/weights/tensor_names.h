// One name for each parameter, however a checkpoint spells it: the name that Hugging Face's class for the whole model writes.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headrace {

// Canonical name -> name in the checkpoint, for all of `stored`. Throws Error(kInvalidArgument) when two of them mean the same parameter.
using TensorNames = std::map<std::string, std::string>;

// Hugging Face files: adds the model's prefix where the file was saved from an inner class ("h.0.ln_1.weight",
// "embeddings.LayerNorm.bias"), and reads the old names of layer norms (gamma, beta). Names of other model types stay.
TensorNames hf_tensor_names(std::string_view model_type, const std::vector<std::string>& stored, std::string_view where);

// GGUF files ("blk.0.attn_q.weight"). Tensors that have no counterpart keep their names; so do all of unknown architectures.
TensorNames gguf_tensor_names(std::string_view architecture, const std::vector<std::string>& stored, std::string_view where);

// Tensors in checkpoints that no result depends on when the model does not declare them: attention masks, rotary and position buffers,
// and the task heads and the pooler of an encoder.
bool is_harmless_extra(std::string_view name);

}  // namespace headrace
