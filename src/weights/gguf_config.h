// The metadata of a GGUF file as a Hugging Face configuration.
#pragma once

#include "core/json.h"
#include "weights/gguf.h"

namespace headrace {

// What config.json would say, in the spelling of canonical_config. Keys whose metadata are absent are absent. Some keys are our own,
// because converters change weights, or say what config.json cannot:
//   rope_interleaved           true where rows of q and k were reordered so that rope turns neighbours (2i, 2i + 1)
//   rope_dimensions            how many of a head's dimensions turn, where not all do
//   rope_factors_are_tensors   true where the factors of longrope are the tensors rope_factors_short and rope_factors_long
//   linear_weights_out_in      true where GPT-2's [in, out] projections were transposed to [out, in]
//   rms_norm_weight_has_one    true where the 1 of Gemma's (1 + weight) was added to the stored weight
// An architecture that is not in our table keeps its name as model_type. Throws Error(kInvalidArgument) when general.architecture is
// missing or a value is of the wrong kind.
Json gguf_config(const GgufFile& file);

// As generation_defaults. End-of-turn tokens known by their text count as ends of a sequence too.
Json gguf_generation_defaults(const GgufFile& file);

// As read_pooling; null where the file says nothing.
Json gguf_pooling(const GgufFile& file);

}  // namespace headrace
