// One row; out may be x. Included by ops/each_isa.inl.h.
inline float largest_of(const float* x, int64_t n) {
  F32 largest = broadcast(-HUGE_VALF);
  int64_t i = 0;
  for (; i + F32::kLanes <= n; i += F32::kLanes) largest = max(largest, load(x + i));
  float top = reduce_max(largest);
  for (; i < n; ++i) top = x[i] > top ? x[i] : top;
  return top;
}

inline void softmax_row(const float* x, float* out, int64_t n) {
  const float top = largest_of(x, n);
  F32 sums = zero();
  int64_t i = 0;
  for (; i + F32::kLanes <= n; i += F32::kLanes) {
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

inline void log_softmax_row(const float* x, float* out, int64_t n) {
  const float top = largest_of(x, n);
  F32 sums = zero();
  int64_t i = 0;
  for (; i + F32::kLanes <= n; i += F32::kLanes) sums = sums + exp(load(x + i) - broadcast(top));
  float sum = reduce_add(sums), rest[F32::kLanes];
  if (i < n) store(rest, exp(load(x + i, int(n - i)) - broadcast(top)));
  for (int64_t j = 0; j < n - i; ++j) sum += rest[j];
  const F32 first = broadcast(top), second = broadcast(std::log(sum));
  for (i = 0; i < n; i += F32::kLanes) {
    const int m = lanes_of(n - i);
    store_some(out + i, load_some(x + i, m) - first - second, m);
  }
}

inline SoftmaxRow softmax_function(bool logarithm) { return logarithm ? log_softmax_row : softmax_row; }
