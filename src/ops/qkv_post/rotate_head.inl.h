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
    alignas(64) float in[F32::kLanes], out[F32::kLanes];
    for (int i = 0; i < half; i += kPairs) {
      const int pairs = half - i < kPairs ? half - i : kPairs;
      store(in, normed(2 * i, 2 * pairs));
      for (int p = 0; p < pairs; ++p) {
        const float cos = table[i + p], sin = table[half + i + p];
        out[2 * p] = in[2 * p] * cos - in[2 * p + 1] * sin;
        out[2 * p + 1] = in[2 * p + 1] * cos + in[2 * p] * sin;
      }
      store_lanes(y + 2 * i, load(out, 2 * pairs), 2 * pairs);
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
