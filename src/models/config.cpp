#include "models/config.h"

#include <cmath>

namespace headrace {

int64_t config_size(const Json& config, const char* key, std::optional<int64_t> fallback) {
  const std::optional<int64_t> found = find<int64_t>(config, key, kConfig);
  if (!found && fallback) return *fallback;
  const int64_t value = found ? *found : require<int64_t>(config, key, kConfig);
  if (value < 1 || value > INT32_MAX) invalid("{}: '{}' is {}, a number from 1 to {} is wanted", kConfig, key, value, INT32_MAX);
  return value;
}

int64_t config_layers(const Json& config, const char* key) {
  const int64_t layers = config_size(config, key);
  if (layers > kMaxLayers) invalid("{}: '{}' is {}, a number from 1 to {} is wanted", kConfig, key, layers, kMaxLayers);
  return layers;
}

int64_t config_window(const Json& config, const char* key, int64_t fallback) {
  const int64_t window = config.contains(key) ? find_or<int64_t>(config, key, 0, kConfig) : fallback;
  if (window < 0 || window > INT32_MAX) invalid("{}: '{}' is {}, a number from 0 to {} is wanted", kConfig, key, window, INT32_MAX);
  return window;
}

float config_eps(const Json& config, const char* key, double fallback) {
  const double eps = find_or<double>(config, key, fallback, kConfig);
  if (!(eps >= 0 && std::isfinite(float(eps)))) invalid("{}: '{}' is {}, a finite number from 0 is wanted", kConfig, key, eps);
  return float(eps);
}

namespace {

void want_positive(const char* key, std::optional<double> value) {
  if (value && !(*value > 0 && std::isfinite(float(*value)) && float(*value) > 0))
    invalid("{}: '{}' of rope is {}, a finite number above 0 is wanted", kConfig, key, *value);
}

}  // namespace

nn::RopeOptions config_rope(const Json& config, int64_t head_dim) {
  Json parameters = Json::object();
  for (const char* key : {"rope_parameters", "rope_scaling"}) {
    const auto it = config.find(key);
    if (it == config.end() || it->is_null()) continue;
    if (!it->is_object()) invalid("{}: '{}' is {}, an object or null is wanted", kConfig, key, printable(it->dump()));
    parameters = *it;
  }
  nn::RopeOptions rope{.head_dim = head_dim};
  rope.theta = find_or<double>(parameters, "rope_theta", find_or<double>(config, "rope_theta", 10000.0, kConfig), kConfig);
  want_positive("rope_theta", rope.theta);
  rope.interleaved = find_or<bool>(config, "rope_interleaved", false, kConfig);
  const double partial =
      find_or<double>(parameters, "partial_rotary_factor", find_or<double>(config, "partial_rotary_factor", 1.0, kConfig), kConfig);
  if (!(partial > 0 && partial <= 1))
    invalid("{}: 'partial_rotary_factor' is {}, a number above 0 and at most 1 is wanted", kConfig, partial);
  rope.rotary_dim = int64_t(double(head_dim) * partial);
  if (rope.rotary_dim < 1)
    invalid("{}: 'partial_rotary_factor' is {}, which leaves no dimension of a head of {} to turn", kConfig, partial, head_dim);

  const std::string kind =
      find_or<std::string>(parameters, "rope_type", find_or<std::string>(parameters, "type", "default", kConfig), kConfig);
  nn::RopeScaling& s = rope.scaling;
  if (kind == "default" || kind == "mrope") return rope;  // mrope is plain rope while there are no pictures
  // The dynamic kind stretches only past the original context, where the runtime does not go.
  if (kind == "dynamic") return rope;
  if (kind == "linear") s.kind = nn::RopeScaling::Kind::kLinear;
  else if (kind == "llama3") s.kind = nn::RopeScaling::Kind::kLlama3;
  else if (kind == "yarn") s.kind = nn::RopeScaling::Kind::kYarn;
  else
    fail(ErrorCode::kUnsupported, "{}: rope scaling '{}' is not known; known are default, linear, dynamic, llama3 and yarn", kConfig,
         printable(kind));

  s.factor = require<double>(parameters, "factor", "config.json: rope_scaling");
  s.low_freq_factor = find_or<double>(parameters, "low_freq_factor", 1, kConfig);
  s.high_freq_factor = find_or<double>(parameters, "high_freq_factor", 4, kConfig);
  s.beta_fast = find_or<double>(parameters, "beta_fast", 32, kConfig);
  s.beta_slow = find_or<double>(parameters, "beta_slow", 1, kConfig);
  s.attention_factor = find<double>(parameters, "attention_factor", kConfig);
  s.mscale = find<double>(parameters, "mscale", kConfig);
  s.mscale_all_dim = find<double>(parameters, "mscale_all_dim", kConfig);
  s.truncate = find_or<bool>(parameters, "truncate", true, kConfig);
  want_positive("factor", s.factor);
  if (s.kind == nn::RopeScaling::Kind::kYarn) {
    if (!(rope.theta > 1)) invalid("{}: 'rope_theta' is {}, rope scaling 'yarn' wants a number above 1", kConfig, rope.theta);
    want_positive("beta_fast", s.beta_fast), want_positive("beta_slow", s.beta_slow), want_positive("attention_factor", s.attention_factor);
    for (const auto& scale : {s.mscale, s.mscale_all_dim})
      if (scale && !(*scale >= 0 && std::isfinite(float(*scale))))
        invalid("{}: 'mscale' of rope is {}, a finite number from 0 is wanted", kConfig, *scale);
  }
  if (s.kind != nn::RopeScaling::Kind::kLinear) {
    const double fallback =
        find_or<double>(config, "original_max_position_embeddings", double(config_size(config, "max_position_embeddings", 0)), kConfig);
    s.original_max_position = find_or<double>(parameters, "original_max_position_embeddings", fallback, kConfig);
    if (!(s.original_max_position > 0)) invalid("{}: rope scaling '{}' wants 'original_max_position_embeddings'", kConfig, kind);
    if (s.kind == nn::RopeScaling::Kind::kLlama3 && !(s.high_freq_factor > s.low_freq_factor && s.low_freq_factor > 0))
      invalid("{}: rope scaling 'llama3' wants 0 < low_freq_factor < high_freq_factor, found {} and {}", kConfig, s.low_freq_factor,
              s.high_freq_factor);
  }
  return rope;
}

bool is_sliding_layer(const Json& config, int64_t layer, bool fallback) {
  const auto types = config.find("layer_types");
  if (types == config.end() || !types->is_array() || layer >= int64_t(types->size()) || !(*types)[layer].is_string()) return fallback;
  return (*types)[layer].get<std::string>() == "sliding_attention";
}

}  // namespace headrace
