// Loops over floats. Included by ops/each_isa_body.inl.h.

// Loads and stores that know a whole vector: m is lanes_of(what is left).
inline int lanes_of(int64_t left) { return left < F32::kLanes ? int(left) : F32::kLanes; }
inline F32 load_some(const float* p, int m) { return m == F32::kLanes ? load(p) : load(p, m); }
inline void store_some(float* p, F32 x, int m) {
  if (m == F32::kLanes) store(p, x);
  else store(p, x, m);
}

// body(i, m) for [0, n): whole vectors four at a time, which a processor has in flight together, then single ones, then what is left.
template <typename Body>
inline void for_vectors(int64_t n, Body&& body) {
  constexpr int64_t kWidth = F32::kLanes;
  int64_t i = 0;
  for (; i + 4 * kWidth <= n; i += 4 * kWidth) {
    body(i, F32::kLanes);
    body(i + kWidth, F32::kLanes);
    body(i + 2 * kWidth, F32::kLanes);
    body(i + 3 * kWidth, F32::kLanes);
  }
  for (; i + kWidth <= n; i += kWidth) body(i, F32::kLanes);
  if (i < n) body(i, int(n - i));
}

// out[i] = f(x[i]); out may be x.
template <typename Function>
inline void map(Function f, const float* x, float* out, int64_t n) {
  for_vectors(
      n, [&](int64_t i, int m) __attribute__((always_inline)) { store_some(out + i, f(load_some(x + i, m)), m); });
}

// out[i] = f(x[i], y[i]); out may be x or y.
template <typename Function>
inline void map(Function f, const float* x, const float* y, float* out, int64_t n) {
  for_vectors(
      n, [&](int64_t i, int m) __attribute__((always_inline)) { store_some(out + i, f(load_some(x + i, m), load_some(y + i, m)), m); });
}

// The larger and the smaller, or NaN when either is: max and min give their second operand then; x unless it is a number makes it win.
inline F32 nan_first(F32 x, F32 result) {
  return select(less(x, broadcast(HUGE_VALF)), result, select(less(broadcast(-HUGE_VALF), x), result, x));
}
inline F32 maximum(F32 x, F32 y) { return nan_first(x, max(x, y)); }
inline F32 minimum(F32 x, F32 y) { return nan_first(x, min(x, y)); }
