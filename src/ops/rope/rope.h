// Rotary position embedding: pairs of elements of each head are turned by angles that grow with the position.
// Su et al. 2021, eq. 34. The table of angles is made once for all layers.
#pragma once

#include "ops/kernel.h"

namespace headrace {

struct RopeTable {
  float scale = 1;            // of cosines and sines: attention scaling of YaRN and its like
  int64_t longest_short = 0;  // with four inputs: the greatest reach that takes the first frequencies
  void fields(auto&& f) { f("scale", scale), f("longest_short", longest_short); }
};

// rope_table(positions (tokens) i32, inverse_frequencies (rotary_dim / 2) f32
//            [, reach (tokens) i32, long_inverse_frequencies (rotary_dim / 2) f32]) -> f32 (tokens, rotary_dim):
// first the cosines, then the sines of position * inverse_frequency, times `scale`. The angle is the product rounded to fp32, as
// Hugging Face has it; cosine and sine are right to fp32's last place for any angle. A token whose reach is above longest_short turns
// by the long frequencies: LongRoPE, where how long a sequence is decides how all of it turns.
struct Rope {
  int64_t head_dim = 0;
  bool interleaved = false;  // pairs are (2 i, 2 i + 1) instead of (i, i + rotary_dim / 2)
  void fields(auto&& f) { f("head_dim", head_dim), f("interleaved", interleaved); }
};

// rope(x (tokens, heads * head_dim) floats, table (tokens, rotary_dim) f32) -> x's type; rotary_dim <= head_dim, and elements
// of a head from rotary_dim on stay as they are.
void register_rope(OpRegistry& ops);
void register_rope_cpu(KernelRegistry& kernels);

}  // namespace headrace
