// One row; out may be x. Included by ops/each_isa.inl.h.
inline void softmax_row(const float* x, float* out, int64_t n) {
  F32 largest = broadcast(-HUGE_VALF);
  int64_t i = 0;
  for (; i + F32::kLanes <= n; i += F32::kLanes) largest = max(largest, load(x + i));
  float top = reduce_max(largest);
  for (; i < n; ++i) top = x[i] > top ? x[i] : top;
  F32 sums = zero();
  for (i = 0; i + F32::kLanes <= n; i += F32::kLanes) {
    const F32 e = exp(load(x + i) - broadcast(top));
    store(out + i, e);
    sums = sums + e;
  }
  float sum = reduce_add(sums);
  if (i < n) {
    store(out + i, exp(load(x + i, int(n - i)) - broadcast(top)), int(n - i));
    for (; i < n; ++i) sum += out[i];
  }
  const F32 scale = broadcast(1 / sum);
  for (i = 0; i < n; i += F32::kLanes) {
    const int m = lanes_of(n - i);
    store_some(out + i, load_some(out + i, m) * scale, m);
  }
}
