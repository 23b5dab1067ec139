#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/error.h"
#include "headrace/nn.h"

namespace headrace::nn {
namespace {

// Llama 3.1: long wavelengths are stretched by the factor, short ones kept, those between blended.
double llama3(double inverse, const RopeScaling& s) {
  const double wavelength = 2 * std::numbers::pi / inverse;
  const double longest_kept = s.original_max_position / s.high_freq_factor,
               shortest_stretched = s.original_max_position / s.low_freq_factor;
  if (wavelength < longest_kept) return inverse;
  if (wavelength > shortest_stretched) return inverse / s.factor;
  const double blend = (s.original_max_position / wavelength - s.low_freq_factor) / (s.high_freq_factor - s.low_freq_factor);
  return (1 - blend) * inverse / s.factor + blend * inverse;
}

// YaRN (Peng et al. 2023, section 3.2): dimensions that turn often keep their frequency, those that turn rarely are stretched.
struct Yarn {
  double low, high;
  Yarn(const RopeScaling& s, double theta, int64_t dim) {
    const auto dimension = [&](double rotations) {
      return double(dim) * std::log(s.original_max_position / (rotations * 2 * std::numbers::pi)) / (2 * std::log(theta));
    };
    low = dimension(s.beta_fast), high = dimension(s.beta_slow);
    if (s.truncate) low = std::floor(low), high = std::ceil(high);
    low = std::max(low, 0.0), high = std::min(high, double(dim - 1));
    if (low == high) high += 0.001;
  }
  double operator()(double inverse, int64_t i, double factor) const {
    const double ramp = std::clamp((double(i) - low) / (high - low), 0.0, 1.0);
    return inverse / factor * ramp + inverse * (1 - ramp);
  }
};

// LongRoPE (Ding et al. 2024): a factor for each pair; none where they come as values of the graph.
float long_rope(double theta, int64_t i, int64_t dim, const std::vector<double>& factors) {
  const float factor = factors.empty() ? 1.0f : float(factors[size_t(i)]);
  return 1.0f / (factor * float(std::pow(theta, double(2 * i) / double(dim))));
}

double long_rope_scale(const RopeScaling& s) {
  return s.factor <= 1 ? 1 : std::sqrt(1 + std::log(s.factor) / std::log(s.original_max_position));
}

double yarn_scale(double factor, double mscale) { return factor <= 1 ? 1 : 0.1 * mscale * std::log(factor) + 1; }

}  // namespace

RopeFrequencies rope_frequencies(const RopeOptions& options) {
  const int64_t dim = options.rotary_dim ? options.rotary_dim : options.head_dim;
  const RopeScaling& s = options.scaling;
  if (dim < 2 || dim % 2 != 0 || dim > options.head_dim)
    invalid("rope: {} rotary dimensions of a head of {}: an even number of at most the head's size is wanted", dim, options.head_dim);
  if (!(options.theta > 0)) invalid("rope: theta is {}, a positive number is wanted", options.theta);
  if (s.kind != RopeScaling::Kind::kNone && !(s.factor > 0))
    invalid("rope: the scaling factor is {}, a positive number is wanted", s.factor);
  if (s.kind == RopeScaling::Kind::kLongRope)
    for (const std::vector<double>* factors : {&s.short_factors, &s.long_factors})
      if (!factors->empty() && int64_t(factors->size()) != dim / 2)
        invalid("rope: longrope has {} factors, {} are wanted: one for each pair of {} rotary dimensions", factors->size(), dim / 2, dim);
  RopeFrequencies result;
  for (int64_t i = 0; i < dim / 2; ++i) {
    // Rounded step by step as the reference implementation does it in fp32.
    double inverse = double(1.0f / float(std::pow(options.theta, double(2 * i) / double(dim))));
    switch (s.kind) {
      case RopeScaling::Kind::kNone: break;
      case RopeScaling::Kind::kLinear: inverse /= s.factor; break;
      case RopeScaling::Kind::kLlama3: inverse = llama3(inverse, s); break;
      case RopeScaling::Kind::kYarn: inverse = Yarn(s, options.theta, dim)(inverse, i, s.factor); break;
      case RopeScaling::Kind::kLongRope:
        result.long_inverse.push_back(long_rope(options.theta, i, dim, s.long_factors));
        inverse = long_rope(options.theta, i, dim, s.short_factors);
        break;
    }
    result.inverse.push_back(float(inverse));
  }
  if (s.kind == RopeScaling::Kind::kYarn) {
    if (s.attention_factor) result.scale = float(*s.attention_factor);
    else if (s.mscale.value_or(0) != 0 && s.mscale_all_dim.value_or(0) != 0)
      result.scale = float(yarn_scale(s.factor, *s.mscale) / yarn_scale(s.factor, *s.mscale_all_dim));
    else result.scale = float(yarn_scale(s.factor, 1));
  }
  if (s.kind == RopeScaling::Kind::kLongRope) result.scale = float(s.attention_factor ? *s.attention_factor : long_rope_scale(s));
  return result;
}

}  // namespace headrace::nn
