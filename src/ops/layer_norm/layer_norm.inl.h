// One row. Included by ops/each_isa.inl.h.
// sum = x + y where there is a y (otherwise x is what is normalized); weight and bias may be null; out may be x.
inline void layer_norm_row(const float* x, const float* y, const float* weight, const float* bias, const LayerNorm& norm, float* sum,
                           float* out, int64_t n) {
  F32 total = zero();
  for (int64_t i = 0; i < n; i += F32::kLanes) {
    const int m = lanes_of(n - i);
    F32 v = load_some(x + i, m);
    if (y) {
      v = v + load_some(y + i, m);
      store_some(sum + i, v, m);
    }
    total = total + v;
  }
  if (y) x = sum;
  const float mean = reduce_add(total) / float(n);
  F32 squares = zero();
  int64_t i = 0;
  for (; i + F32::kLanes <= n; i += F32::kLanes) {
    const F32 d = load(x + i) - broadcast(mean);
    squares = fma(d, d, squares);
  }
  float rest = 0;
  for (; i < n; ++i) rest += (x[i] - mean) * (x[i] - mean);
  const F32 scale = broadcast(1 / std::sqrt((reduce_add(squares) + rest) / float(n) + norm.eps));
  for (i = 0; i < n; i += F32::kLanes) {
    const int m = lanes_of(n - i);
    F32 v = (load_some(x + i, m) - broadcast(mean)) * scale;
    if (weight) v = v * (broadcast(norm.weight_offset) + load_some(weight + i, m));
    if (bias) v = v + load_some(bias + i, m);
    store_some(out + i, v, m);
  }
}
