// Loops over floats. Included by ops/each_isa_body.inl.h.

// Loads and stores that know a whole vector: m is lanes_of(what is left).
inline int lanes_of(int64_t left) { return left < F32::kLanes ? int(left) : F32::kLanes; }
inline F32 load_some(const float* p, int m) { return m == F32::kLanes ? load(p) : load(p, m); }
inline void store_some(float* p, F32 x, int m) {
  if (m == F32::kLanes) store(p, x);
  else store(p, x, m);
}

// out[i] = f(x[i]); out may be x.
template <typename Function>
inline void map(Function f, const float* x, float* out, int64_t n) {
  for (int64_t i = 0; i < n; i += F32::kLanes) {
    const int m = lanes_of(n - i);
    store_some(out + i, f(load_some(x + i, m)), m);
  }
}

// out[i] = f(x[i], y[i]); out may be x or y.
template <typename Function>
inline void map(Function f, const float* x, const float* y, float* out, int64_t n) {
  for (int64_t i = 0; i < n; i += F32::kLanes) {
    const int m = lanes_of(n - i);
    store_some(out + i, f(load_some(x + i, m), load_some(y + i, m)), m);
  }
}
