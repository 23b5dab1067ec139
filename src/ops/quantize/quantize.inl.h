// Runs of scaled numbers. Included by ops/each_isa.inl.h.

// out = round(x / scale) + zero_point, cut to [lowest, highest]; NaN gives the lowest. out may be x.
inline void quantize_run(const float* x, const float* scale, const float* zero_point, float lowest, float highest, float* out, int64_t n) {
  for (int64_t i = 0; i < n; i += F32::kLanes) {
    const int m = lanes_of(n - i);
    const F32 q = round(load_some(x + i, m) / load_some(scale + i, m)) + load_some(zero_point + i, m);
    store_some(out + i, min(max(q, broadcast(lowest)), broadcast(highest)), m);
  }
}

// out = (q - zero_point) * scale. out may be q.
inline void dequantize_run(const float* q, const float* scale, const float* zero_point, float* out, int64_t n) {
  for (int64_t i = 0; i < n; i += F32::kLanes) {
    const int m = lanes_of(n - i);
    store_some(out + i, (load_some(q + i, m) - load_some(zero_point + i, m)) * load_some(scale + i, m), m);
  }
}
