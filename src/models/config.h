// Reading what many configs share.
#pragma once

#include "core/json.h"
#include "headrace/nn.h"

namespace headrace {

inline constexpr std::string_view kConfig = "config.json";

// A size: present unless there is a fallback, and from 1 to 2^31 - 1.
int64_t config_size(const Json& config, const char* key, std::optional<int64_t> fallback = {});

// The number of layers: also at most kMaxLayers, since each costs nodes before any weight is looked at.
inline constexpr int64_t kMaxLayers = 1024;
int64_t config_layers(const Json& config, const char* key);

// What a norm adds to the variance: a finite number that is not negative.
float config_eps(const Json& config, const char* key, double fallback);

// How many tokens before it a token sees, itself included; 0: all, and `fallback` when the key is not there.
int64_t config_window(const Json& config, const char* key, int64_t fallback);

// rope_theta and rope_scaling at the top, or both inside rope_parameters. partial_rotary_factor means nothing to the classes of these
// families, so neither does it here. Throws Error(kUnsupported) for an unknown kind.
nn::RopeOptions config_rope(const Json& config, int64_t head_dim);

// Where the matrices of words in and words out are. Tied, they are one, and whichever is stored serves as both; a checkpoint that stores
// both means both, as in transformers 5.
struct WordMatrices {
  nn::Scope in, out;
};
WordMatrices word_matrices(const nn::Scope& in, const nn::Scope& out, bool tied);

// Whether layer i attends within the sliding window: layer_types if given, else `fallback`.
bool is_sliding_layer(const Json& config, int64_t layer, bool fallback);

}  // namespace headrace
