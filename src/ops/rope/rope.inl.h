// One head: pairs of x turned; out may be x. Included by ops/each_isa.inl.h.
inline void rope_halves(const float* x, const float* cosines, const float* sines, float* out, int64_t half) {
  for (int64_t i = 0; i < half; i += F32::kLanes) {
    const int m = lanes_of(half - i);
    const F32 a = load_some(x + i, m), b = load_some(x + half + i, m), c = load_some(cosines + i, m), s = load_some(sines + i, m);
    store_some(out + i, a * c - b * s, m);
    store_some(out + half + i, b * c + a * s, m);
  }
}

inline void rope_pairs(const float* x, const float* cosines, const float* sines, float* out, int64_t half) {
  for (int64_t i = 0; i < half; ++i) {
    const float a = x[2 * i], b = x[2 * i + 1];
    out[2 * i] = a * cosines[i] - b * sines[i];
    out[2 * i + 1] = b * cosines[i] + a * sines[i];
  }
}
