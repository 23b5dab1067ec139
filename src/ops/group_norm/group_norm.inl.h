// One group of one image. Included by ops/each_isa.inl.h.

// out = (x - mean) / sqrt(variance + eps) * weight + bias of `channels` rows of `places`, neighbours in memory; weight and bias may be
// null; out may be x.
inline void group_norm_group(const float* x, const float* weight, const float* bias, float eps, int64_t channels, int64_t places,
                             float* out) {
  const int64_t n = channels * places;
  F32 sums[4] = {zero(), zero(), zero(), zero()};
  int64_t i = 0;
  for (; i + 4 * F32::kLanes <= n; i += 4 * F32::kLanes)
    for (int j = 0; j < 4; ++j) sums[j] = sums[j] + load(x + i + j * F32::kLanes);
  for (; i < n; i += F32::kLanes) sums[0] = sums[0] + load_some(x + i, lanes_of(n - i));
  const float mean = reduce_add((sums[0] + sums[1]) + (sums[2] + sums[3])) / float(n);

  F32 squares[4] = {zero(), zero(), zero(), zero()};
  for (i = 0; i + 4 * F32::kLanes <= n; i += 4 * F32::kLanes)
    for (int j = 0; j < 4; ++j) {
      const F32 d = load(x + i + j * F32::kLanes) - broadcast(mean);
      squares[j] = fma(d, d, squares[j]);
    }
  float rest = 0;
  for (; i < n; ++i) rest += (x[i] - mean) * (x[i] - mean);
  const float variance = (reduce_add((squares[0] + squares[1]) + (squares[2] + squares[3])) + rest) / float(n);

  const float scale = 1 / std::sqrt(variance + eps);
  for (int64_t channel = 0; channel < channels; ++channel, x += places, out += places) {
    const F32 gain = broadcast(weight ? scale * weight[channel] : scale), offset = broadcast(bias ? bias[channel] : 0);
    for (i = 0; i < places; i += F32::kLanes) {
      const int m = lanes_of(places - i);
      store_some(out + i, fma(load_some(x + i, m) - broadcast(mean), gain, offset), m);
    }
  }
}
