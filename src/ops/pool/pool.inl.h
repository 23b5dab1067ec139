// One element of the windows, taken into the results of a row of places. Included by ops/each_isa.inl.h.
struct PoolMax {
  F32 operator()(F32 x, F32 y) const { return maximum(x, y); }
  float operator()(float x, float y) const { return x > y || x != x ? x : y; }
};
struct PoolSum {
  F32 operator()(F32 x, F32 y) const { return x + y; }
  float operator()(float x, float y) const { return x + y; }
};

// y[i] = f(x[i * step], y[i])
template <typename Function>
void pool_run(const float* x, int64_t step, float* y, int64_t n) {
  if (step == 1) return map(Function(), x, y, y, n);
  for (int64_t i = 0; i < n; ++i) y[i] = Function()(x[i * step], y[i]);
}

inline PoolRun pool_function(bool is_max) { return is_max ? pool_run<PoolMax> : pool_run<PoolSum>; }
