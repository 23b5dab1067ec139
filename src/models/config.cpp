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

using Kind = nn::RopeScaling::Kind;

// The context before it was stretched. The top of the configuration wins, as in Hugging Face's classes.
double original_context(const Json& config, const Json& parameters) {
  if (const auto length = find<double>(config, "original_max_position_embeddings", kConfig)) return *length;
  const double whole = double(config_size(config, "max_position_embeddings", 0));
  return find_or<double>(parameters, "original_max_position_embeddings", whole, kConfig);
}

void read_llama3(const Json& parameters, nn::RopeScaling& s) {
  s.low_freq_factor = find_or<double>(parameters, "low_freq_factor", 1, kConfig);
  s.high_freq_factor = find_or<double>(parameters, "high_freq_factor", 4, kConfig);
  if (!(s.high_freq_factor > s.low_freq_factor && s.low_freq_factor > 0))
    invalid("{}: rope scaling 'llama3' wants 0 < low_freq_factor < high_freq_factor, found {} and {}", kConfig, s.low_freq_factor,
            s.high_freq_factor);
}

void read_yarn(const Json& parameters, nn::RopeScaling& s) {
  s.beta_fast = find_or<double>(parameters, "beta_fast", 32, kConfig);
  s.beta_slow = find_or<double>(parameters, "beta_slow", 1, kConfig);
  s.mscale = find<double>(parameters, "mscale", kConfig);
  s.mscale_all_dim = find<double>(parameters, "mscale_all_dim", kConfig);
  s.truncate = find_or<bool>(parameters, "truncate", true, kConfig);
  want_positive("beta_fast", s.beta_fast), want_positive("beta_slow", s.beta_slow);
  for (const auto& scale : {s.mscale, s.mscale_all_dim})
    if (scale && !(*scale >= 0 && std::isfinite(float(*scale))))
      invalid("{}: 'mscale' of rope is {}, a finite number from 0 is wanted", kConfig, *scale);
}

std::vector<double> read_factors(const Json& parameters, const char* key, int64_t wanted) {
  const Json factors = require<Json>(parameters, key, "config.json: rope_scaling");
  if (!factors.is_array() || int64_t(factors.size()) != wanted)
    invalid("{}: '{}' of rope is {}, {} numbers are wanted: one for each pair of a head's dimensions", kConfig, key,
            factors.is_array() ? fmt::format("a list of {}", factors.size()) : printable(factors.dump()), wanted);
  std::vector<double> values;
  for (const Json& factor : factors) {
    if (!factor.is_number()) invalid("{}: '{}' of rope holds {}, a number is wanted", kConfig, key, printable(factor.dump()));
    want_positive(key, values.emplace_back(factor.get<double>()));
  }
  return values;
}

Json rope_parameters(const Json& config) {
  Json parameters = Json::object();
  for (const char* key : {"rope_parameters", "rope_scaling"}) {
    const auto it = config.find(key);
    if (it == config.end() || it->is_null()) continue;
    if (!it->is_object()) invalid("{}: '{}' is {}, an object or null is wanted", kConfig, key, printable(it->dump()));
    parameters = *it;
  }
  return parameters;
}

// No scaling where the kind is plain rope.
Kind scaling_kind(const Json& parameters) {
  const std::string kind =
      find_or<std::string>(parameters, "rope_type", find_or<std::string>(parameters, "type", "default", kConfig), kConfig);
  // mrope is plain rope while there are no pictures; the dynamic kind stretches only past the context, where the runtime does not go.
  if (kind == "default" || kind == "mrope" || kind == "dynamic") return Kind::kNone;
  if (kind == "linear") return Kind::kLinear;
  if (kind == "llama3") return Kind::kLlama3;
  if (kind == "yarn") return Kind::kYarn;
  if (kind == "longrope" || kind == "su") return Kind::kLongRope;
  fail(ErrorCode::kUnsupported, "{}: rope scaling '{}' is not known; known are default, linear, dynamic, llama3, yarn and longrope",
       kConfig, printable(kind));
}

}  // namespace

nn::RopeOptions config_rope(const Json& config, int64_t head_dim) {
  const Json parameters = rope_parameters(config);
  nn::RopeOptions rope{.head_dim = head_dim};
  rope.theta = find_or<double>(parameters, "rope_theta", find_or<double>(config, "rope_theta", 10000.0, kConfig), kConfig);
  want_positive("rope_theta", rope.theta);
  rope.interleaved = find_or<bool>(config, "rope_interleaved", false, kConfig);
  rope.rotary_dim = config_size(config, "rope_dimensions", head_dim);

  nn::RopeScaling& s = rope.scaling;
  s.kind = scaling_kind(parameters);
  if (s.kind == Kind::kNone) return rope;
  const std::optional<double> factor = find<double>(parameters, "factor", kConfig);
  if (s.kind != Kind::kLinear) {
    s.original_max_position = original_context(config, parameters);
    if (!(s.original_max_position >= 2 && s.original_max_position <= INT32_MAX))
      invalid("{}: this rope scaling wants 'original_max_position_embeddings' from 2 to {}", kConfig, INT32_MAX);
  }
  // Of yarn and longrope, silence means that the context grew to what it is.
  const bool implied = !factor && (s.kind == Kind::kYarn || s.kind == Kind::kLongRope) && config.contains("max_position_embeddings");
  if (factor) s.factor = *factor;
  else if (implied) s.factor = double(config_size(config, "max_position_embeddings")) / s.original_max_position;
  else s.factor = require<double>(parameters, "factor", "config.json: rope_scaling");
  want_positive("factor", s.factor);
  s.attention_factor = find<double>(parameters, "attention_factor", kConfig);
  want_positive("attention_factor", s.attention_factor);
  if (s.kind == Kind::kLlama3) read_llama3(parameters, s);
  if (s.kind == Kind::kYarn) {
    if (!(rope.theta > 1)) invalid("{}: 'rope_theta' is {}, rope scaling 'yarn' wants a number above 1", kConfig, rope.theta);
    read_yarn(parameters, s);
  }
  if (s.kind == Kind::kLongRope && !find_or<bool>(config, "rope_factors_are_tensors", false, kConfig)) {
    s.short_factors = read_factors(parameters, "short_factor", rope.rotary_dim / 2);
    s.long_factors = read_factors(parameters, "long_factor", rope.rotary_dim / 2);
  }
  return rope;
}

WordMatrices word_matrices(const nn::Scope& in, const nn::Scope& out, bool tied) {
  if (!tied || (in.has("weight") && out.has("weight"))) return {in, out};
  const nn::Scope& both = out.has("weight") ? out : in;
  return {both, both};
}

bool is_sliding_layer(const Json& config, int64_t layer, bool fallback) {
  const auto types = config.find("layer_types");
  if (types == config.end() || !types->is_array() || layer >= int64_t(types->size()) || !(*types)[layer].is_string()) return fallback;
  return (*types)[layer].get<std::string>() == "sliding_attention";
}

}  // namespace headrace
