// Fused ops found in the plain ops that authors and exporters spell them with. A file per idea; each gives its rules.
#pragma once

#include <vector>

#include "headrace/rewrite.h"

namespace headrace {

std::vector<Rule> arrangement_rules();  // views, slices, casts and permutations that undo each other or change nothing
std::vector<Rule> arithmetic_rules();   // powers that are products, factors of 1
std::vector<Rule> activation_rules();   // sigmoid, silu, relu, gelu (both)
std::vector<Rule> norm_rules();         // rms_norm, layer_norm
std::vector<Rule> softmax_rules();
std::vector<Rule> attention_rules();  // softmax(q k^T scale + mask) v, with repeated heads
std::vector<Rule> rope_rules();       // both layouts, and its table
std::vector<Rule> gated_rules();      // act(x[..., :n]) * x[..., n:]

// Of the pass move-dequantize: dequantize behind what only arranges elements.
std::vector<Rule> dequantize_rules();

}  // namespace headrace
