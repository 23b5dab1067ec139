// A row's way in (normalize, convert, lay out for broadcasting) and out (bias, activation, gate, residual).
// Included inside a namespace, after lanes_ISA.inl.h and simd_math.inl.h.

inline int lanes_at(int64_t at, int64_t k) { return k - at < F32::kLanes ? int(k - at) : F32::kLanes; }

// The row to convert: x itself, or a.normalized.
inline const float* normalized(const PrepareArgs& a) {
  if (a.norm == NormKind::kNone) return a.x;
  float mean = 0;
  if (a.norm == NormKind::kLayer) {
    F32 sum = zero();
    for (int64_t i = 0; i < a.k; i += F32::kLanes) sum = sum + load(a.x + i, lanes_at(i, a.k));
    mean = reduce_add(sum) / float(a.k);
  }
  F32 squares = zero();
  for (int64_t i = 0; i < a.k; i += F32::kLanes) {
    const int n = lanes_at(i, a.k);
    F32 x = load(a.x + i, n);
    if (a.norm == NormKind::kLayer) {
      store(a.normalized + i, x - broadcast(mean), n);
      x = load(a.normalized + i, n);
    }
    squares = fma(x, x, squares);
  }
  const F32 scale = broadcast(1.0f / std::sqrt(reduce_add(squares) / float(a.k) + a.eps));
  const float* centered = a.norm == NormKind::kLayer ? a.normalized : a.x;
  for (int64_t i = 0; i < a.k; i += F32::kLanes) {
    const int n = lanes_at(i, a.k);
    const F32 y = load(centered + i, n) * scale * load(a.norm_weight + i, n);
    store(a.normalized + i, a.norm_bias ? y + load(a.norm_bias + i, n) : y, n);
  }
  return a.normalized;
}

inline void prepare_f32(const PrepareArgs& a) {
  const float* x = normalized(a);
  float* at = reinterpret_cast<float*>(a.tile) + a.row;
  for (int64_t i = 0; i < a.k; ++i) at[i * a.tile_rows] = x[i];
  if (a.k % 2) at[a.k * a.tile_rows] = 0;
}

inline void prepare_bf16(const PrepareArgs& a) {
  const float* x = normalized(a);
  std::byte* at = a.tile + a.row * 4;
  const int64_t stride = int64_t{a.tile_rows} * 4;
  for (int64_t i = 0; i < a.k; i += F32::kLanes) {
    const int n = lanes_at(i, a.k);
    BFloat16 rounded[F32::kLanes];
    store(rounded, load(x + i, n));
    for (int j = 0; j < n; j += 2, at += stride) std::memcpy(at, rounded + j, 4);
  }
}

// Per 32 k: scale = largest / 127, integers rounded to nearest even. A NaN or infinity makes the scale NaN.
inline void prepare_int8(const PrepareArgs& a) {
  constexpr int kVectors = 32 / F32::kLanes;
  const float* x = normalized(a);
  for (int64_t block = 0; block < a.k / 32; ++block, x += 32) {
    std::byte* const at = a.tile + block * 44 * a.tile_rows;
    F32 v[kVectors], largest = zero(), poison = zero();
    for (int i = 0; i < kVectors; ++i) {
      v[i] = load(x + i * F32::kLanes);
      largest = max(largest, abs(v[i]));
      poison = fma(v[i], zero(), poison);
    }
    const float top = reduce_max(largest);
    const float scale = top / 127.0f + reduce_add(poison);
    const F32 inverse = broadcast(top > 1e-30f ? 127.0f / top : 0.0f);
    alignas(64) std::byte bytes[64];
    float sums[2];
    for (int half = 0; half < 2; ++half) {
      F32 sum = zero();
      for (int i = half * kVectors / 2; i < (half + 1) * kVectors / 2; ++i) {
        const F32 q = min(broadcast(127.0f), round(v[i] * inverse));
        store_i8(bytes + i * F32::kLanes, q);
        sum = sum + q;
      }
      sums[half] = reduce_add(sum);
    }
    for (int quad = 0; quad < 8; ++quad) std::memcpy(at + (quad * a.tile_rows + a.row) * 4, bytes + quad * 4, 4);
    std::memcpy(at + (8 * a.tile_rows + a.row) * 4, &scale, 4);
    for (int half = 0; half < 2; ++half) {
      const int32_t minus = sums[half] == sums[half] ? -int32_t(sums[half]) : 0;
      std::memcpy(at + ((9 + half) * a.tile_rows + a.row) * 4, &minus, 4);
    }
  }
}

inline F32 activate(F32 x, LinearActivation activation) {
  switch (activation) {
    case LinearActivation::kNone: return x;
    case LinearActivation::kSilu: return silu(x);
    case LinearActivation::kGeluTanh: return gelu_tanh(x);
    case LinearActivation::kGeluErf: return gelu_erf(x);
    case LinearActivation::kRelu: return relu(x);
  }
  return x;
}

inline void finish(const FinishArgs& a) {
  for (int i = 0; i < a.count; i += F32::kLanes) {
    const int n = lanes_at(i, a.count);
    F32 y = load(a.a + i, n);
    if (a.bias) y = y + load(a.bias + i, n);
    y = activate(y, a.activation);
    if (a.b) y = y * (a.bias_b ? load(a.b + i, n) + load(a.bias_b + i, n) : load(a.b + i, n));
    if (a.residual) y = y + load(a.residual + i, n);
    store(a.y + i, y, n);
  }
}
