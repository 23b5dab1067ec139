// config.json and its neighbours in one spelling, whoever wrote them.
#pragma once

#include "core/json.h"

namespace headrace {

// Brings the contents of a config.json to one spelling; values stay as they are, and judging them is the models' business.
//   dtype                  from torch_dtype; without "torch."
//   rope_theta, rope_scaling, rope_local_base_freq, partial_rotary_factor   at the top, also where rope_parameters held them
//                          (per layer type: full_attention is the first two, sliding_attention the third)
//   rope_scaling.rope_type from type, and longrope from su; rope_scaling is null where it says "default" only
//   num_experts            from num_local_experts
//   keys that gguf_config has for itself are left out
//   {"__float__": "Infinity"} becomes a number beyond every finite float
// Does the same to text_config, if there is one. Throws Error(kInvalidArgument) when it is no object.
Json canonical_config(Json config, std::string_view where);

// What to do when a user says nothing: eos_token_ids (always a list), and where known bos_token_id, pad_token_id, do_sample, temperature,
// top_k, top_p, min_p, repetition_penalty, max_new_tokens. `generation` is generation_config.json or null; it wins over `config`.
Json generation_defaults(const Json& config, const Json& generation, std::string_view where);

// How a sentence-transformers folder makes one vector of many: {"mode": "mean" | "cls" | "max" | "lasttoken" | ..., "normalize": bool} and,
// where known, "max_seq_length". Null when the folder has no modules.json.
Json read_pooling(const std::string& folder);

}  // namespace headrace
