// One head of q or k: RMS norm, rotation, rounding to T. Included by ops/each_isa.inl.h. See HeadRotation in qkv_post_cpu.cpp.

// to (n of type T), n <= kLanes
template <typename T>
inline void store_lanes(T* to, F32 x, int n) {
  if (n == F32::kLanes) store(to, x);
  else store(to, x, n);
}

// y may be x.
template <typename T>
void rotate_head(const HeadRotation& r, const float* x, const float* table, void* to) {
  T* y = static_cast<T*>(to);
  F32 scale = broadcast(1.0f);
  if (r.weight) {
    F32 sum = zero();
    for (int i = 0; i < r.head_dim; i += F32::kLanes) {
      const F32 v = load_some(x + i, lanes_of(r.head_dim - i));
      sum = fma(v, v, sum);
    }
    scale = broadcast(1 / std::sqrt(reduce_add(sum) / float(r.head_dim) + r.eps));
  }
  const auto normed = [&](int i, int n) {
    const F32 v = load_some(x + i, n);
    return r.weight ? v * scale * load_some(r.weight + i, n) : v;
  };
  const int half = r.rotary_dim / 2;
  if (r.interleaved) {
    constexpr int kPairs = F32::kLanes / 2;
    for (int i = 0; i < half; i += kPairs) {
      const int pairs = half - i < kPairs ? half - i : kPairs;
      const F32 v = normed(2 * i, 2 * pairs), cos = load_twice(table + i, pairs), sin = load_twice(table + half + i, pairs);
      store_lanes(y + 2 * i, fma(v, cos, quarter_turn(v) * sin), 2 * pairs);
    }
  } else {
    for (int i = 0; i < half; i += F32::kLanes) {
      const int n = lanes_of(half - i);
      const F32 a = normed(i, n), b = normed(half + i, n), cos = load_some(table + i, n), sin = load_some(table + half + i, n);
      store_lanes(y + i, fma(a, cos, -(b * sin)), n);
      store_lanes(y + half + i, fma(b, cos, a * sin), n);
    }
  }
  for (int i = r.rotary_dim; i < r.head_dim; i += F32::kLanes) {
    const int n = lanes_of(r.head_dim - i);
    store_lanes(y + i, normed(i, n), n);
  }
}
