// Parts of models, spelt in plain ops: recipes of recipes.
#pragma once

#include "random_graphs/spelling.h"

namespace headrace::fuzzing {

Value spelt_rms_norm(Maker& m, Value x);
Value spelt_layer_norm(Maker& m, Value x);
Value spelt_norm(Maker& m, Value x);  // one of them, or the op
Value spelt_silu(Maker& m, Value x);
Value spelt_gelu(Maker& m, Value x);
Value spelt_activation(Maker& m, Value x);
Value spelt_softmax(Maker& m, Value x);

Value spelt_linear(Maker& m, Value x, Dim out);        // linear, or a matmul with a weight in either order; sometimes with a bias
Value spelt_mlp(Maker& m, Value x);                    // gated or plain
Value spelt_rope(Maker& m, Value x, Value positions);  // x (tokens, heads, head_dim)
Value spelt_attention(Maker& m, Value x);              // x (tokens, hidden)

}  // namespace headrace::fuzzing
