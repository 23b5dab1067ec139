// Convolution of one channel by itself, a row of places at a time, in steps of 1. Included by ops/each_isa.inl.h.

// y[i] for kVectors vectors of places from `first` on, whose windows lie between the row's ends; m places of the last vector.
template <int kVectors>
inline void depthwise_places(const DepthwiseRow& r, int64_t first, int m) {
  const Window &down = r.windows[0], &across = r.windows[1];
  F32 sums[kVectors];
  for (F32& sum : sums) sum = broadcast(r.bias);
  for (int64_t ky = 0; ky < down.size; ++ky) {
    const int64_t h = r.top + ky * down.dilation;
    if (h < 0 || h >= r.height) continue;
    for (int64_t kx = 0; kx < across.size; ++kx) {
      const F32 weight = broadcast(r.weight[ky * across.size + kx]);
      const float* x = r.x + h * r.x_row + first - across.padding + kx * across.dilation;
      for (int v = 0; v < kVectors; ++v) {
        const F32 element = v + 1 < kVectors ? load(x + v * F32::kLanes) : load_some(x + v * F32::kLanes, m);
        sums[v] = fma(weight, element, sums[v]);
      }
    }
  }
  for (int v = 0; v + 1 < kVectors; ++v) store(r.y + first + v * F32::kLanes, sums[v]);
  store_some(r.y + first + (kVectors - 1) * F32::kLanes, sums[kVectors - 1], m);
}

// One place whose window may reach beyond the row's ends.
inline float depthwise_place(const DepthwiseRow& r, int64_t place) {
  const Window &down = r.windows[0], &across = r.windows[1];
  float sum = r.bias;
  for (int64_t ky = 0; ky < down.size; ++ky)
    for (int64_t kx = 0; kx < across.size; ++kx) {
      const int64_t h = r.top + ky * down.dilation, w = across.begin(place) + kx * across.dilation;
      if (h >= 0 && h < r.height && w >= 0 && w < r.width) sum += r.weight[ky * across.size + kx] * r.x[h * r.x_row + w];
    }
  return sum;
}

inline void depthwise_row(const DepthwiseRow& r) {
  const Window& across = r.windows[1];
  const auto within = [&](int64_t places) { return places < r.places ? places : r.places; };
  const int64_t left = within(across.results_before(0, 0)), right = within(across.results_before(r.width, across.size - 1));
  int64_t i = 0;
  for (; i < left; ++i) r.y[i] = depthwise_place(r, i);
  for (; i + 4 * F32::kLanes <= right; i += 4 * F32::kLanes) depthwise_places<4>(r, i, F32::kLanes);
  for (; i < right; i += F32::kLanes) depthwise_places<1>(r, i, lanes_of(right - i));
  for (i = left < right ? right : left; i < r.places; ++i) r.y[i] = depthwise_place(r, i);
}
