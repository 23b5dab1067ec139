// One row. Included by ops/each_isa.inl.h.
inline float sum_of_squares(const float* x, int64_t n) {
  F32 a = zero(), b = zero();
  int64_t i = 0;
  for (; i + 2 * F32::kLanes <= n; i += 2 * F32::kLanes) {
    const F32 u = load(x + i), v = load(x + i + F32::kLanes);
    a = fma(u, u, a);
    b = fma(v, v, b);
  }
  for (; i < n; i += F32::kLanes) {
    const F32 v = load_some(x + i, lanes_of(n - i));
    a = fma(v, v, a);
  }
  return reduce_add(a + b);
}

// sum = x + y where there is a y (otherwise x is what is normalized); out may be x.
inline void rms_norm_row(const float* x, const float* y, const float* weight, const RmsNorm& norm, float* sum, float* out, int64_t n) {
  if (y) {
    for (int64_t i = 0; i < n; i += F32::kLanes) {
      const int m = lanes_of(n - i);
      store_some(sum + i, load_some(x + i, m) + load_some(y + i, m), m);
    }
    x = sum;
  }
  const F32 scale = broadcast(1 / std::sqrt(sum_of_squares(x, n) / float(n) + norm.eps)), offset = broadcast(norm.weight_offset);
  for (int64_t i = 0; i < n; i += F32::kLanes) {
    const int m = lanes_of(n - i);
    store_some(out + i, load_some(x + i, m) * scale * (offset + load_some(weight + i, m)), m);
  }
}
