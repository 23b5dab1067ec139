// Over a tile of a row. Included by ops/each_isa.inl.h.

struct SumOf {
  F32 operator()(F32 x, F32 y) const { return x + y; }
};
// max and min give their second operand when either is NaN; NaN wins.
inline F32 unless_nan(F32 x, F32 result) {
  return select(less(x, broadcast(HUGE_VALF)), result, select(less(broadcast(-HUGE_VALF), x), result, x));
}
struct MaxOf {
  F32 operator()(F32 x, F32 y) const { return unless_nan(x, max(x, y)); }
};
struct MinOf {
  F32 operator()(F32 x, F32 y) const { return unless_nan(x, min(x, y)); }
};

// All elements of x and `start`, in a fixed order.
template <typename Function>
float accumulate(Function f, float start, float neutral, const float* x, int64_t n) {
  constexpr int kChains = 8;  // hide the latency of f
  F32 partial[kChains];
  for (F32& p : partial) p = broadcast(neutral);
  int64_t i = 0;
  for (; i + kChains * F32::kLanes <= n; i += kChains * F32::kLanes)
    for (int k = 0; k < kChains; ++k) partial[k] = f(partial[k], load(x + i + k * F32::kLanes));
  for (; i + F32::kLanes <= n; i += F32::kLanes) partial[0] = f(partial[0], load(x + i));
  for (int width = kChains / 2; width > 0; width /= 2)
    for (int k = 0; k < width; ++k) partial[k] = f(partial[k], partial[k + width]);
  float lanes[2 * F32::kLanes];
  store(lanes, partial[0]);
  for (int width = F32::kLanes / 2; width > 0; width /= 2)
    for (int k = 0; k < width; ++k) {
      F32 pair = f(broadcast(lanes[k]), broadcast(lanes[k + width]));
      store(lanes + F32::kLanes, pair);
      lanes[k] = lanes[F32::kLanes];
    }
  float total = lanes[0];
  const auto one = [&](float y) {
    store(lanes, f(broadcast(total), broadcast(y)));
    total = lanes[0];
  };
  for (; i < n; ++i) one(x[i]);
  one(start);
  return total;
}

inline float accumulate_products(float start, const float* x, const float* y, int64_t n) {
  constexpr int kChains = 4;
  F32 partial[kChains] = {zero(), zero(), zero(), zero()};
  int64_t i = 0;
  for (; i + kChains * F32::kLanes <= n; i += kChains * F32::kLanes)
    for (int k = 0; k < kChains; ++k) partial[k] = fma(load(x + i + k * F32::kLanes), load(y + i + k * F32::kLanes), partial[k]);
  for (; i < n; i += F32::kLanes) {
    const int m = lanes_of(n - i);
    partial[0] = fma(load_some(x + i, m), load_some(y + i, m), partial[0]);
  }
  return start + reduce_add((partial[0] + partial[1]) + (partial[2] + partial[3]));
}

inline float region_accumulate(Reduction reduction, float start, const float* x, int64_t n) {
  switch (reduction) {
    case Reduction::kMax: return accumulate(MaxOf(), start, -HUGE_VALF, x, n);
    case Reduction::kMin: return accumulate(MinOf(), start, HUGE_VALF, x, n);
    default: return accumulate(SumOf(), start, 0.0f, x, n);
  }
}

// Past the caches; both ends by ordinary stores where they are not aligned.
inline void region_stream(const float* x, float* out, int64_t n) {
  int64_t i = 0;
  for (; i < n && reinterpret_cast<uintptr_t>(out + i) % (F32::kLanes * sizeof(float)) != 0; ++i) out[i] = x[i];
  for (; i + F32::kLanes <= n; i += F32::kLanes) stream(out + i, load(x + i));
  for (; i < n; ++i) out[i] = x[i];
}
